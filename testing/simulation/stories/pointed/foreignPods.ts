/** Stories about objects of other agents on the host, and about limits that the host imposes on an agent. */
import { TEMPORARY_UIDS } from '../../host/foreignPods.ts';
import { manifest } from '../manifests.ts';
import {
  apply,
  at,
  BROKEN,
  faultAt,
  fixedPod,
  killAgent,
  type PointedStory,
  pointedStory,
  remove,
  SECOND,
  SHARED_SEED,
  sized,
} from './pointedStory.ts';

const [FOREIGN_UID = ''] = TEMPORARY_UIDS;
/** Returns a pod with the UID of a different agent's pod. */
const podWithForeignUid = (cpu = '100m') => fixedPod('web', { containers: [sized(cpu)] }, { uid: FOREIGN_UID });

const visit = (seconds: number, forSeconds: number) =>
  at(seconds, { kind: 'visit', uid: FOREIGN_UID, forMs: forSeconds * SECOND });
const cgroupsReadOnly = (seconds: number, forSeconds: number) =>
  at(seconds, { kind: 'cgroupsReadOnly', forMs: forSeconds * SECOND });
/** Time in seconds after which the lists of the runtime show the first pods of other agents. */
const LISTED_AFTER_SECONDS = 12;

const longStory = (...actions: PointedStory['actions']) => pointedStory(actions, [], 300 * SECOND);

/** Stories of other agents' pods that join the agent's cgroups and leave them. */
export const temporaryPods: Readonly<Record<string, PointedStory>> = {
  'a pod of another agent comes to the cgroups, and goes': longStory(apply(0, manifest('web')), visit(50, 80)),
  'a pod waits until another agent has removed its sandbox': longStory(
    visit(0, 60),
    apply(LISTED_AFTER_SECONDS, podWithForeignUid()),
    apply(20, podWithForeignUid('200m')),
  ),
  'a pod that waits for another agent is wanted no more': longStory(
    visit(0, 100),
    apply(LISTED_AFTER_SECONDS, podWithForeignUid()),
    remove(30, 'web'),
  ),
  'an agent starts again while a pod waits for another agent': longStory(
    visit(0, 60),
    apply(LISTED_AFTER_SECONDS, podWithForeignUid()),
    killAgent(30, 5),
  ),
  'what is left of a pod ends while another agent has a sandbox of it': longStory(
    apply(0, podWithForeignUid()),
    killAgent(8, 12),
    at(9, { kind: 'killSandbox', which: 0 }),
    visit(10, 60),
    at(30, { kind: 'exit', which: 0, exitCode: 0 }),
  ),
  'what is left of a pod waits for long, as another agent runs one of its UID': pointedStory(
    [
      apply(0, podWithForeignUid()),
      apply(5, manifest('other')),
      killAgent(20, 12),
      at(21, { kind: 'removeSandbox', which: 0 }),
      remove(22, 'web'),
      visit(23, 1_800),
    ],
    [],
    2_400 * SECOND,
  ),
  'another agent runs a pod of the UID of one that has just begun': {
    ...longStory(apply(0, manifest('other')), visit(11, 60), apply(11.5, podWithForeignUid()), remove(40, 'web')),
    seed: SHARED_SEED,
  },
  'a pod ends before a list has shown that another agent runs one of its UID': {
    ...longStory(
      apply(0, manifest('other')),
      at(10.5, { kind: 'events', delivery: 'dropped', forMs: 10 * SECOND }),
      visit(11, 60),
      apply(11.5, podWithForeignUid()),
      remove(14, 'web'),
    ),
    seed: SHARED_SEED,
  },
};

/** Stories of hosts that are unusual or become so. */
export const unusualHosts: Readonly<Record<string, PointedStory>> = {
  'a host gets another address': pointedStory([
    apply(0, manifest('web')),
    apply(0, fixedPod('host', { hostNetwork: true })),
    at(20, { kind: 'addresses', ips: ['192.0.2.7', '2001:db8::7'] }),
  ]),
  'a host runs out of memory, and a container survives the kill of a process': longStory(
    apply(0, manifest('web')),
    at(20, { kind: 'systemOom', which: 0 }),
    at(60, { kind: 'oom', which: 0, child: true }),
    at(120, { kind: 'oom', which: 0, child: false }),
  ),
  'a host runs out of memory while its log cannot be read': pointedStory(
    [apply(0, manifest('web')), at(20, { kind: 'systemOom', which: 0 })],
    [faultAt('disk', 'readFile', BROKEN, { about: '/dev/kmsg', times: 3 })],
  ),
  'a host lets nobody change cgroups': {
    ...pointedStory([apply(0, manifest('web')), remove(30, 'web')]),
    cgroups: 'readOnly',
  },
  'a host leaves cgroups to the runtime': {
    ...pointedStory([apply(0, manifest('web')), remove(30, 'web')]),
    cgroups: 'unused',
  },
  'a host leaves cgroups to the runtime, and another agent runs a pod in a cgroup of its own': {
    ...longStory(
      apply(0, podWithForeignUid()),
      killAgent(8, 12),
      at(9, { kind: 'killSandbox', which: 0 }),
      visit(10, 60),
      at(30, { kind: 'exit', which: 0, exitCode: 0 }),
      remove(120, 'web'),
    ),
    cgroups: 'unused',
  },
  'a host lets nobody change cgroups for a while': longStory(
    apply(0, manifest('web')),
    cgroupsReadOnly(30, 100),
    apply(40, manifest('late')),
    remove(45, 'web'),
  ),
  'a pod comes again whose cgroup an agent could not remove': longStory(
    apply(0, podWithForeignUid()),
    cgroupsReadOnly(30, 40),
    killAgent(35, 5),
    remove(50, 'web'),
    apply(90, podWithForeignUid()),
  ),
  'the runtime is away while a pod waits for the cgroup that an agent could not remove': longStory(
    apply(0, podWithForeignUid()),
    cgroupsReadOnly(30, 40),
    killAgent(35, 5),
    remove(50, 'web'),
    apply(90, podWithForeignUid()),
    at(100, { kind: 'runtimeDown', downMs: 30 * SECOND, keepContainers: true }),
  ),
  'a host lets nobody change cgroups that others share': longStory(
    visit(10, 200),
    cgroupsReadOnly(80, 100),
    apply(90, manifest('late')),
  ),
  'a host lets nobody change cgroups whose limit could not be set': pointedStory(
    [cgroupsReadOnly(20, 100)],
    [faultAt('cgroups', 'write', { kind: 'fail', code: 'EBUSY' }, { about: '/kubepods/memory.max' })],
    120 * SECOND,
  ),
};
