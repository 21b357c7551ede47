/** Stories of pods with resource claims, and of DRA drivers that connect, fail and disconnect. */
import { CLAIM_DRIVER } from '../../cluster/clusterUsers.ts';
import { type ManifestSpec, manifest } from '../manifests.ts';
import type { TimedAction } from '../story.ts';
import type { TargetedFault } from '../variants/targetedFaults.ts';
import {
  apply,
  at,
  faultAt,
  fixedPod,
  killAgent,
  late,
  mainContainer,
  type PointedStory,
  pointedStory,
  SECOND,
  shell,
} from './pointedStory.ts';

const connect = (seconds: number) => at(seconds, { kind: 'connectDriver', driver: CLAIM_DRIVER });
const disconnect = (seconds: number) => at(seconds, { kind: 'disconnectDriver', driver: CLAIM_DRIVER });
const resources = { claims: [{ name: 'gpu' }] };
/** Returns a pod with a claim, which other pods may use as well. */
const claiming = (name: string, more: Partial<ManifestSpec> = {}, claim = 'gpu-1') =>
  manifest(name, {
    resourceClaims: [{ name: 'gpu', resourceClaimName: claim }],
    containers: [mainContainer({ resources })],
    ...more,
  });
const create = (seconds: number, ...args: Parameters<typeof claiming>) =>
  at(seconds, { kind: 'createPod', pod: claiming(...args) });
const deletePod = (seconds: number, name: string, graceSeconds = 2) =>
  at(seconds, { kind: 'deletePod', pod: `default/${name}`, graceSeconds });

const claimStory = (
  actions: readonly TimedAction[],
  faults: readonly TargetedFault[] = [],
  lastsSeconds = 180,
): PointedStory => ({ ...pointedStory(actions, faults, lastsSeconds * SECOND), inCluster: true });

const FAILED = { kind: 'fail', code: 'INTERNAL' } as const;

export const claims: Readonly<Record<string, PointedStory>> = {
  'a claim stays prepared while its pod runs, also with a new agent': claimStory([
    connect(0),
    create(1, 'web'),
    killAgent(30),
    deletePod(150, 'web'),
  ]),
  'two pods share a claim, and the first one goes': claimStory([
    connect(0),
    create(1, 'web'),
    create(5, 'api'),
    deletePod(30, 'web'),
    deletePod(100, 'api'),
  ]),
  'a pod waits for its driver': claimStory([create(1, 'web'), connect(40), deletePod(120, 'web')]),
  'a driver is away when its pod is deleted': claimStory([
    connect(0),
    create(1, 'web'),
    disconnect(20),
    deletePod(25, 'web'),
    connect(80),
  ]),
  'a driver does not come back in time': claimStory([
    connect(0),
    disconnect(10),
    connect(70),
    disconnect(100),
    connect(110),
  ]),
  'a pod goes while no agent runs': claimStory(
    [connect(0), create(1, 'web'), killAgent(20, 10), deletePod(22, 'web', 0)],
    [faultAt('drivers', 'unprepareResources', FAILED)],
  ),
  'the API server loses the slices late': claimStory(
    [connect(0), disconnect(5), create(40, 'web'), connect(100)],
    [
      faultAt('api', 'DELETE', { kind: 'fail', code: '503' }, { about: 'resourceslices' }),
      faultAt('api', 'DELETE', { kind: 'fail', code: '500' }, { about: 'spec.driver' }),
    ],
  ),
  'a driver fails, and is late': claimStory(
    [connect(0), create(1, 'web'), create(2, 'api', {}, 'gpu-2'), deletePod(110, 'web'), deletePod(110, 'api')],
    [
      faultAt('drivers', 'prepareResources', FAILED),
      faultAt('drivers', 'prepareResources', late(20), { skip: 1 }),
      faultAt('drivers', 'unprepareResources', FAILED),
      faultAt('drivers', 'unprepareResources', { kind: 'lostReply' }, { skip: 1 }),
    ],
  ),
  'a pod is deleted while its claim is prepared': claimStory(
    [connect(0), create(1, 'web'), deletePod(5, 'web')],
    [faultAt('drivers', 'prepareResources', late(15))],
  ),
  'a pod with a claim is evicted late while its claim is unprepared': claimStory(
    [
      connect(0),
      create(1, 'web', { activeDeadlineSeconds: 10 }),
      create(
        1,
        'once',
        { restartPolicy: 'Never', containers: [mainContainer({ resources, command: shell('exit 0') })] },
        'gpu-2',
      ),
    ],
    [faultAt('drivers', 'unprepareResources', late(12))],
  ),
  'a static pod beside pods with claims': claimStory([connect(0), apply(1, fixedPod('static', {})), create(2, 'web')]),
};
