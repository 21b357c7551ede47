/** Stories in which an event coincides with an operation in progress. */
import { container, manifest } from '../manifests.ts';
import { RESTARTS_ALL } from './podRestarts.ts';
import {
  apply,
  at,
  failCalls,
  faultAt,
  fixedPod,
  killAgent,
  late,
  mainContainer,
  type PointedStory,
  pointedStory,
  remove,
  runtimeDown,
  SECOND,
  SHARED_SEED,
  shell,
  sized,
  UNAVAILABLE,
  UNKNOWN,
} from './pointedStory.ts';

const several = [0, 1, 2, 3, 4, 5].map((pod) => apply(0, manifest(`web-${pod}`)));
const forgets = (seconds: number) =>
  at(seconds, { kind: 'runtimeDown', downMs: 100, keepContainers: true, forgets: 1 });
const recalls = (seconds: number) =>
  at(seconds, { kind: 'runtimeDown', downMs: 100, keepContainers: true, recalls: true });
const hasUnknown = (seconds: number) =>
  at(seconds, { kind: 'runtimeDown', downMs: 0, keepContainers: true, hasUnknown: true });
const renames = (seconds: number, downMs = 100) =>
  at(seconds, { kind: 'runtimeDown', downMs, keepContainers: true, renames: 1 });
const exitMain = (seconds: number) => at(seconds, { kind: 'exit', which: 0, exitCode: 1 });
const TASK_LOST = { kind: 'fail', code: 'FAILED_PRECONDITION' } as const;

/** Stories in which the runtime restarts, and forgets or recalls its objects. */
export const runtimeRestarts: Readonly<Record<string, PointedStory>> = {
  'the runtime comes back before it is asked again what has become of a sandbox': pointedStory(
    [apply(0, manifest('web')), at(6, { kind: 'killSandbox', which: 0 }), runtimeDown(6.5, 3)],
    [faultAt('runtime', 'podSandboxStatus', UNAVAILABLE, { skip: 2, times: 4 })],
  ),
  'the runtime comes back before a volume from an image is tried again': pointedStory([
    runtimeDown(4, 1),
    apply(
      4.9,
      manifest('web', {
        containers: [mainContainer({ volumeMounts: [{ name: 'files', mountPath: '/files' }] })],
        volumes: [{ name: 'files', image: { reference: 'registry.local/pulled:2' } }],
      }),
    ),
  ]),
  'the runtime comes back with other ids for what runs, has run or starts up': pointedStory([
    ...several,
    apply(0, manifest('crashing', { containers: [mainContainer({ command: shell('exit 1') })] })),
    apply(
      0,
      manifest('slow', {
        containers: [mainContainer({ startupProbe: { tcpSocket: { port: 1 }, failureThreshold: 1_000 } })],
      }),
    ),
    renames(8),
    renames(12, 1_000),
  ]),
  'the runtime comes back with another id for a container that no list shows': pointedStory(
    [
      apply(0, manifest('web')),
      at(0.15, { kind: 'lists', show: 'stale', forMs: 20 * SECOND }),
      runtimeDown(5, 0),
      renames(7),
    ],
    [faultAt('runtime', 'containerStatus', UNAVAILABLE, { skip: 4, times: 2 })],
  ),
  'the runtime comes back with another id for a container whose previous run it has lost': pointedStory([
    apply(0, manifest('web')),
    exitMain(6),
    exitMain(8),
    forgets(9),
    killAgent(20),
    renames(30),
  ]),
  'the runtime comes back with another id for a container that the kernel killed': pointedStory([
    apply(0, manifest('web')),
    at(6, { kind: 'oom', which: 0, child: false }),
    renames(20),
  ]),
  'the runtime comes back without knowing what runs': pointedStory([...several, hasUnknown(8)]),
  'the runtime comes back without knowing what has started, as its answer was lost': pointedStory(
    [...several, hasUnknown(1)],
    [faultAt('runtime', 'startContainer', { kind: 'lostReply', code: 'UNAVAILABLE' }, { times: 6 })],
  ),
  'the runtime finds an earlier sandbox of a pod while the last is removed': pointedStory(
    [apply(0, manifest('web')), forgets(5), remove(30, 'web'), recalls(34)],
    [faultAt('runtime', 'removePodSandbox', UNKNOWN, { times: 3 })],
    120 * SECOND,
  ),
  'the runtime finds an earlier sandbox of a pod that has ended': pointedStory([
    apply(
      0,
      manifest('once', { restartPolicy: 'OnFailure', containers: [mainContainer({ command: shell('sleep 8') })] }),
    ),
    forgets(4),
    recalls(50),
  ]),
  'the runtime has lost a container that it was starting, and is restarted': pointedStory(
    [apply(0, manifest('web')), apply(0, manifest('other')), remove(6, 'web')],
    [faultAt('runtime', 'removePodSandbox', TASK_LOST, { times: 2 })],
  ),
  'the runtime has lost a container that it was starting, and cannot be restarted': pointedStory(
    [apply(0, manifest('web')), remove(6, 'web')],
    [faultAt('runtime', 'removePodSandbox', TASK_LOST, { times: 3 }), faultAt('runtime', 'restartRuntime', UNKNOWN)],
  ),
};

/** Stories in which a container exits before its start is confirmed. */
export const earlyExits: Readonly<Record<string, PointedStory>> = {
  'a container has ended by the time that its runtime does not say whether it has started': pointedStory(
    [apply(0, manifest('web', { containers: [mainContainer({ command: shell('sleep 2') })] }))],
    [faultAt('runtime', 'containerStatus', { kind: 'hang' }, { skip: 3 })],
    300 * SECOND,
  ),
};

/** Stories in which a new agent adopts a pod whose containers were all to restart. */
export const adoptedRestarts: Readonly<Record<string, PointedStory>> = {
  'the power is gone before all containers of a pod restart': pointedStory([
    apply(0, manifest('web', { containers: [RESTARTS_ALL] })),
    at(5.5, { kind: 'stall', forMs: 30 * SECOND }),
    at(10, { kind: 'powerCut', downMs: 0 }),
  ]),
  'the sandbox of a pod is gone before all its containers restart': pointedStory([
    apply(0, manifest('web', { containers: [RESTARTS_ALL, container('helper')] })),
    killAgent(5, 10),
    at(10, { kind: 'killSandbox', which: 0 }),
  ]),
};

const OLD_LISTS = at(8, { kind: 'lists', show: 'stale', forMs: 12 * SECOND });

/** Stories in which the runtime has lost the running containers when the next agent queries it. */
export const lostRuns: Readonly<Record<string, PointedStory>> = {
  'an old list shows the run before the one that the runtime has lost': pointedStory([
    apply(0, fixedPod('web', { containers: [mainContainer({ command: shell('sleep 12') })] })),
    OLD_LISTS,
    forgets(15),
    killAgent(15),
  ]),
  'a pod ends while its logs are looked for, whose run the runtime has lost': pointedStory(
    [
      apply(0, fixedPod('web', { containers: [mainContainer()] })),
      OLD_LISTS,
      forgets(15),
      killAgent(15),
      remove(17, 'web'),
    ],
    [faultAt('disk', 'entries', late(3), { about: '_uid-of-web/main', skip: 1 })],
  ),
  'a run is seen to end while it is asked for, and is lost then': pointedStory(
    [
      apply(0, fixedPod('web', { containers: [mainContainer()] })),
      killAgent(10),
      at(11, { kind: 'exit', which: 0, exitCode: 0 }),
      forgets(12.5),
    ],
    [faultAt('runtime', 'containerStatus', late(3), { skip: 4 })],
  ),
};

const withMemoryVolume = (cpu: string) =>
  fixedPod('web', {
    containers: [sized(cpu, { volumeMounts: [{ name: 'memory', mountPath: '/memory' }] })],
    volumes: [{ name: 'memory', emptyDir: { medium: 'Memory' } }],
  });

/** Stories in which a new request overlaps with the previous operation on the same pod. */
export const overlaps: Readonly<Record<string, PointedStory>> = {
  'the sandbox of a container ends while the next agent asks about it': pointedStory(
    [apply(0, manifest('web')), killAgent(8), at(9, { kind: 'killSandbox', which: 0 })],
    [faultAt('runtime', 'containerStatus', late(20), { skip: 4 })],
  ),
  'other resources are wanted while the volumes of a pod are mounted': pointedStory(
    [apply(0, withMemoryVolume('100m')), apply(2, withMemoryVolume('200m'))],
    [faultAt('mounts', 'mount', late(6))],
  ),
};

/** Stories about cgroups that are shared with the pods of other agents. */
export const sharedCgroups: Readonly<Record<string, PointedStory>> = {
  'cgroups that others share cannot be looked at for a while': {
    ...pointedStory([failCalls(50, 'disk', 20)], [], 200 * SECOND),
    seed: SHARED_SEED,
  },
};
