/** Transitions that no simulation takes, with the reason why that stays so. */
import type { KnownTransition } from './transitions.ts';

/** What is left open is any. */
interface Unreached extends Partial<Pick<KnownTransition, 'from' | 'event' | 'index'>> {
  readonly machine: string;
  readonly reason: string;
  /** Drawn stories take it now and then. */
  readonly isRare?: boolean;
}

const NO_FAILURE = 'defensive: the service answers with a result whatever happens; tested on its machine';
const NO_ACTOR_FAILS = 'defensive: no actor throws by itself; tested on its machine';
const NO_POD_BREAKS = 'defensive: a pod breaks only where an actor in it throws, and none does; tested on its machine';
const NO_FEED_ENDS =
  'defensive: a feed that the node needs ends with its agent alone, or by a fault of its own; tested on its machine';
const NOT_UNUSED =
  'defensive: an agent that looks after cgroups never leaves them to the runtime; tested on its machine';
const NO_CERTIFICATE =
  'these stories are of nodes without a cluster; tested on its machine and in test/actors/cluster/certificates';
const NO_CLUSTER = 'these stories are of nodes without a cluster; tested on its machine and in test/simulation/cluster';
const NO_OBJECTS = 'these stories are of nodes without a cluster, whose pods get no objects; tested on its machine';
const NO_PATIENCE = 'a simulated sink has no patience; tested on its machine';
const RARE = 'drawn stories take it only when several events coincide; tested on its machine';

const probeErrors = (['unknown', 'passing', 'failing'] as const).flatMap((state) =>
  (['spreading', 'probing'] as const).map((step) => ({
    ...{ machine: 'probe', from: `${state}.${step}`, reason: NO_FAILURE },
    event: `xstate.error.actor.0.probe.${state}.${step}`,
  })),
);

const looked = (state: 'enforced' | 'awaitingEnforcement' | 'sharedWithOthers') => {
  const from = `${state}.looking`;
  return { machine: 'cgroups', from, event: `xstate.done.actor.0.cgroups.${from}` };
};

const cgroupsUnused = (['enforced', 'awaitingEnforcement', 'sharedWithOthers'] as const).map((state) => ({
  ...{ ...looked(state), index: 3, reason: NOT_UNUSED },
}));

const impatient = [
  { from: '', event: 'status.changed', index: 0 },
  { from: '', event: 'timer.elapsed', index: 0 },
  { from: 'idle', event: '', index: 2 },
  { from: 'gathering' },
  { from: 'awaitingRetry', event: '', index: 1 },
].map((each) => ({ machine: 'statusSink', ...each, reason: NO_PATIENCE }));

const errorIn = (machine: string, from: string) => ({
  ...{ machine, from, event: `xstate.error.actor.0.${machine}.${from}`, reason: NO_FAILURE },
});

const ofVolume = (from: string, event: string, index: number) => ({ machine: 'volume', from, event, index });

/** What objects lead to that pods get of a cluster, and that change. */
const ofObjects = [
  ofVolume('mounting', 'xstate.done.actor.0.volume.mounting', 1),
  ofVolume('mounting', 'xstate.error.actor.0.volume.mounting', 0),
  ofVolume('mounted.refreshing', 'xstate.done.actor.0.volume.mounted.refreshing', 0),
  ofVolume('mounted.refreshing', 'xstate.done.actor.0.volume.mounted.refreshing', 1),
  ofVolume('mounted.refreshing', 'xstate.error.actor.0.volume.mounted.refreshing', 0),
  ...['mounted.settling.current', 'mounted.settling.outdated'].map((from) => ({ machine: 'volume', from })),
  { machine: 'volume', event: 'volume.objectsChanged' },
  { machine: 'pod', event: 'pod.objectsChanged' },
  { machine: 'container', event: 'container.objectsChanged' },
  { machine: 'container', from: 'launching.readyToCreate', event: 'container.launch', index: 0 },
  { machine: 'container', from: 'launching.configuring' },
].map((each) => ({ ...each, reason: NO_OBJECTS }));

const ofPod = (from: string, event: string) => ({ machine: 'pod', from, event });
const ofContainer = (from: string, event: string, index: number) => ({ machine: 'container', from, event, index });
const rare = [
  { machine: 'nodeAgent', event: 'feed.ended', index: 1 },
  { ...ofPod('admitting', 'pod.update'), index: 0 },
  ofPod('recalling', 'admission.refused'),
  { ...ofPod('resetting.draining', ''), index: 1 },
  ofContainer('launching.making.starting', 'container.update', 0),
  ofPod('recalling', 'pod.deadlineExceeded'),
  ofPod('terminating', 'admission.admitted'),
  ofPod('terminating.awaitingCgroupRetry', 'runtime.returned'),
  { ...looked('enforced'), event: 'xstate.error.actor.0.cgroups.enforced.looking' },
  ofContainer('pending.waiting', '', 2),
  ofContainer('ended.startFailed', 'sandbox.lost', 1),
].map((each) => ({ ...each, isRare: true, reason: RARE }));

export const unreached: readonly Unreached[] = [
  ...probeErrors,
  { machine: 'nodeAgent', event: 'xstate.error.actor.*', reason: NO_ACTOR_FAILS },
  { machine: 'nodeAgent', event: 'xstate.error.actor.cgroups', reason: NO_ACTOR_FAILS },
  { machine: 'nodeAgent', event: 'xstate.error.actor.logRotation', reason: NO_ACTOR_FAILS },
  { machine: 'nodeAgent', event: 'xstate.error.actor.garbage', reason: NO_ACTOR_FAILS },
  { machine: 'nodeAgent', event: 'xstate.done.actor.*', index: 1, reason: NO_POD_BREAKS },
  { machine: 'nodeAgent', event: 'feed.ended', index: 0, reason: NO_FEED_ENDS },
  {
    ...{ machine: 'nodeAgent', from: 'running', event: 'config.podsListed' },
    reason: 'only a program that is a source itself lists its pods anew; tested on its machine',
  },
  { machine: 'pod', event: 'xstate.error.actor.*', reason: NO_ACTOR_FAILS },
  errorIn('pod', 'recalling'),
  errorIn('pod', 'terminating.beginning'),
  { machine: 'pod', event: 'pod.conditionsChanged', reason: 'an API server sets conditions, and there is none' },
  {
    ...{ machine: 'pod', from: 'sandboxing.creatingSandbox.running', event: 'pod.deadlineExceeded', index: 1 },
    reason: 'its timer would have to elapse just as it is told to end, which stops it; tested on its machine',
  },
  {
    ...{ machine: 'pod', from: 'active', event: '', index: 1 },
    reason: 'ephemeral containers come from an API server, and there is none; tested on its machine',
  },
  {
    ...{ machine: 'pod', from: 'finished', event: 'admission.admitted' },
    reason: 'admission answers before anything else happens; tested on its machine',
  },
  errorIn('activeDeadline', 'dating'),
  errorIn('container', 'adopting.countingRestarts'),
  {
    ...{ machine: 'container', from: 'adopting.deciding', event: '', index: 0 },
    reason: 'the simulated runtime answers with what is so when it answers; tested on its machine',
  },
  errorIn('container', 'pending.countingRestarts'),
  {
    ...{ machine: 'container', from: 'launching.readyToCreate', event: '', index: 0 },
    reason: 'defensive: a pod that ends tells its containers nothing of its sandbox; tested on its machine',
  },
  errorIn('container', 'launching.runningPostStart'),
  errorIn('container', 'stopping.runningPreStop'),
  {
    ...{ machine: 'container', from: 'stopping.awaitingOthers', event: 'container.stop', index: 0 },
    reason: 'only an API server shortens the grace of a pod that ends, and there is none; tested on its machine',
  },
  {
    ...{ machine: 'container', from: 'ended.failed', event: 'container.start' },
    reason: 'defensive: with an init container that fails for good its pod ends; tested on its machine',
  },
  {
    ...{ machine: 'limiter', from: '', event: 'slot.request', index: 0 },
    reason: 'defensive: who asks for a slot gives back the one before; tested on its machine',
  },
  ...cgroupsUnused,
  ...rare,
  errorIn('logRotation', 'rotating'),
  ...['node.registered', 'node.csiInitialized', 'node.leaseRegained', 'config.mirrorsChanged'].map((event) => ({
    ...{ machine: 'nodeAgent', event, reason: NO_CLUSTER },
  })),
  ...['cluster.watchChanged', 'cluster.eventsChanged', 'cluster.nodeSeen', 'cluster.objectsChanged'].map((event) => ({
    ...{ machine: 'nodeAgent', event, reason: NO_CLUSTER },
  })),
  ...['refused', 'finished'].map((from) => ({
    ...{ machine: 'pod', from, event: 'pod.terminate', reason: NO_CLUSTER },
  })),
  { machine: 'volume', from: 'mounted.steady', event: '', reason: NO_CLUSTER },
  { machine: 'volume', from: 'mounted.awaitingRenewal', reason: NO_CLUSTER },
  ...impatient,
  { machine: 'admission', from: 'open', event: '', reason: NO_CLUSTER },
  { machine: 'admission', from: 'askingServer', reason: NO_CLUSTER },
  ...ofObjects,
  ...['registration', 'nodeStatus', 'lease', 'mirror'].map((machine) => ({ machine, reason: NO_CLUSTER })),
  { machine: 'certificate', reason: NO_CERTIFICATE },
];

/** Whether a reason is given for a transition. */
export const isMeant = ({ machine, from, event, index }: Unreached, transition: Omit<KnownTransition, 'to'>): boolean =>
  machine === transition.machine &&
  (from === undefined || from === transition.from) &&
  (event === undefined || event === transition.event) &&
  (index === undefined || index === transition.index);

/** Why a transition is not taken; undefined where nobody has said that. */
export const reasonOf = (transition: Omit<KnownTransition, 'to'>): string | undefined =>
  unreached.find((each) => isMeant(each, transition))?.reason;
