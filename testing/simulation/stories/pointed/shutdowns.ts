import { type ManifestSpec, manifest } from '../manifests.ts';
import type { TimedAction } from '../story.ts';
import type { TargetedFault } from '../variants/targetedFaults.ts';
import {
  at,
  faultAt,
  killAgent,
  late,
  mainContainer,
  type PointedStory,
  pointedStory,
  SECOND,
  STUBBORN,
} from './pointedStory.ts';

const create = (seconds: number, name: string, spec: Partial<ManifestSpec> = {}) =>
  at(seconds, { kind: 'createPod', pod: manifest(name, { containers: [mainContainer()], ...spec }) });
const announce = (seconds: number) => at(seconds, { kind: 'shutdown', isCancelled: false });
const cancel = (seconds: number) => at(seconds, { kind: 'shutdown', isCancelled: true });

const critical = create(0, 'critical', { priorityClassName: 'system-node-critical' });
const stubborn = create(0, 'stubborn', {
  containers: [mainContainer({ command: STUBBORN })],
  terminationGracePeriodSeconds: 60,
});
/** Fault of a connection to logind that is refused. */
const REFUSED = { kind: 'fail', code: 'ECONNREFUSED' } as const;

/** Returns a story of a cluster's node that handles the shutdown of its host. */
const following = (actions: readonly TimedAction[], faults: readonly TargetedFault[] = []): PointedStory => ({
  ...pointedStory([critical, ...actions], faults, 120 * SECOND),
  inCluster: true,
  followsShutdown: true,
});

/** Stories in which the host is about to shut down, so that its pods are terminated. */
export const shutdowns: Readonly<Record<string, PointedStory>> = {
  'the host shuts down, ordinary pods terminate before critical ones': following([
    create(0, 'web'),
    announce(30),
    create(50, 'too-late'),
    cancel(70),
  ]),
  'a pod of the lower group takes longer than the time of its group': following([stubborn, announce(30), cancel(90)]),
  'a shutdown without pods': {
    ...pointedStory([announce(30), cancel(40)], [], 60 * SECOND),
    inCluster: true,
    followsShutdown: true,
  },
  'a shutdown is cancelled while the first group terminates': following([stubborn, announce(30), cancel(34)]),
  'logind restarts while the node waits for a shutdown': following([
    create(0, 'web'),
    at(20, { kind: 'logindDown', forMs: 5 * SECOND }),
    announce(40),
    cancel(80),
  ]),
  'logind restarts while pods terminate': following([
    stubborn,
    announce(30),
    at(32, { kind: 'logindDown', forMs: 5 * SECOND }),
    announce(70),
    cancel(110),
  ]),
  'the agent dies during a shutdown': following([stubborn, announce(30), killAgent(33, 1), cancel(60)]),
  'the delay of logind cannot be read': following(
    [announce(30), cancel(40)],
    [faultAt('network', 'readInhibitDelay', REFUSED)],
  ),
  'the delay of logind cannot be raised': following([], [faultAt('network', 'raiseInhibitDelay', REFUSED)]),
  'the signals of logind cannot be received': following([], [faultAt('network', 'watchShutdown', REFUSED)]),
  'the lock is refused': following([], [faultAt('network', 'holdLock', REFUSED)]),
  'the lock is granted late': following([announce(40), cancel(60)], [faultAt('network', 'holdLock', late(10))]),
  'the start and the end of the shutdown cannot be saved': following(
    [create(0, 'web'), announce(30), cancel(80)],
    [faultAt('disk', 'rename', { kind: 'fail', code: 'EIO' }, { about: 'graceful_node_shutdown_state', times: 2 })],
  ),
};

/** Stories in which several shutdowns of the host are announced. */
export const repeatedShutdowns: Readonly<Record<string, PointedStory>> = {
  'a shutdown is announced again while the end of a cancelled one is saved': following(
    [stubborn, announce(30), cancel(31), announce(31.5), create(34, 'too-late'), cancel(90)],
    [faultAt('disk', 'rename', late(5), { about: 'graceful_node_shutdown_state', skip: 1 })],
  ),
};
