/** Transitions that no simulation takes, with the reasons. */
import type { KnownTransition } from './transitions.ts';

/** A missing field matches any value. */
interface Unreached extends Partial<Pick<KnownTransition, 'from' | 'event' | 'index'>> {
  readonly machine: string;
  readonly reason: string;
  /** Whether drawn stories take the transition occasionally. */
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
  'simulated nodes keep no certificates; tested on its machine and in test/actors/cluster/certificates';
const NO_NODE =
  'nobody takes the Node away in these stories, or changes its labels; tested on its machine and in test/actors/cluster';
const NO_STALE_DEADLINE =
  'defensive: the timer of a deadline that does not hold any more is stopped at once; tested on its machine';
const RARE = 'drawn stories take it only when several events coincide; tested on its machine';

const probeErrors = (['unknown', 'passing', 'failing'] as const).flatMap((state) =>
  (['spreading', 'probing'] as const).map((step) => ({
    machine: 'probe',
    from: `${state}.${step}`,
    reason: NO_FAILURE,
    event: `xstate.error.actor.0.probe.${state}.${step}`,
  })),
);

const looked = (state: 'enforced' | 'awaitingEnforcement' | 'sharedWithOthers') => {
  const from = `${state}.looking`;
  return { machine: 'cgroups', from, event: `xstate.done.actor.0.cgroups.${from}` };
};

const cgroupsUnused = (['enforced', 'awaitingEnforcement', 'sharedWithOthers'] as const).map((state) => ({
  ...looked(state),
  index: 3,
  reason: NOT_UNUSED,
}));

const errorIn = (machine: string, from: string) => ({
  machine,
  from,
  event: `xstate.error.actor.0.${machine}.${from}`,
  reason: NO_FAILURE,
});

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
  ofPod('refused', 'pod.terminate'),
  { machine: 'volume', from: 'mounted.settling.outdated', event: 'volume.update' },
  {
    machine: 'volume',
    from: 'mounted.refreshing',
    index: 0,
    event: 'xstate.error.actor.0.volume.mounted.refreshing',
  },
  { machine: 'mirror', from: 'deciding', event: '', index: 3 },
  { machine: 'mirror', from: 'awaitingWatch', event: 'mirror.changed' },
  { machine: 'mirror', from: 'removing', event: 'xstate.error.actor.0.mirror.removing' },
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
    machine: 'nodeAgent',
    event: 'runtime.podCidrChanged',
    reason:
      'simulated nodes have a network without addresses of their own; tested in test/actors/feeds/podCidr.test.ts',
  },
  {
    machine: 'nodeAgent',
    from: 'running',
    event: 'config.podsListed',
    reason: 'only a program that is a source itself lists its pods anew; tested on its machine',
  },
  { machine: 'pod', event: 'xstate.error.actor.*', reason: NO_ACTOR_FAILS },
  errorIn('pod', 'recalling'),
  errorIn('pod', 'terminating.beginning'),
  ...['sandboxing.creatingSandbox.running', 'terminating'].map((from) => ({
    machine: 'pod',
    from,
    event: 'pod.deadlineExceeded',
    index: 1,
    reason: NO_STALE_DEADLINE,
  })),
  { machine: 'pod', from: 'finished', event: 'pod.deadlineExceeded', reason: NO_STALE_DEADLINE },
  {
    machine: 'pod',
    from: 'active',
    event: '',
    index: 1,
    reason: 'nobody adds ephemeral containers in these stories; tested on its machine',
  },
  {
    machine: 'pod',
    from: 'finished',
    event: 'admission.admitted',
    reason: 'admission answers before anything else happens; tested on its machine',
  },
  errorIn('activeDeadline', 'dating'),
  errorIn('container', 'adopting.countingRestarts'),
  {
    machine: 'container',
    from: 'adopting.deciding',
    event: '',
    index: 0,
    reason: 'the simulated runtime answers with what is so when it answers; tested on its machine',
  },
  errorIn('container', 'pending.countingRestarts'),
  {
    machine: 'container',
    from: 'launching.readyToCreate',
    event: '',
    index: 0,
    reason: 'defensive: a pod that ends tells its containers nothing of its sandbox; tested on its machine',
  },
  errorIn('container', 'launching.runningPostStart'),
  errorIn('container', 'stopping.runningPreStop'),
  {
    machine: 'container',
    from: 'stopping.awaitingOthers',
    event: 'container.stop',
    index: 0,
    reason: 'a grace is seldom shortened just then; tested on its machine',
    isRare: true,
  },
  {
    machine: 'container',
    from: 'ended.failed',
    event: 'container.start',
    reason: 'defensive: with an init container that fails for good its pod ends; tested on its machine',
  },
  {
    machine: 'limiter',
    from: '',
    event: 'slot.request',
    index: 0,
    reason: 'defensive: who asks for a slot gives back the one before; tested on its machine',
  },
  ...cgroupsUnused,
  ...rare,
  errorIn('logRotation', 'rotating'),
  { machine: 'statusSink', from: 'gathering', event: '', index: 1, reason: RARE, isRare: true },
  { machine: 'admission', from: 'open', event: '', reason: NO_NODE },
  { machine: 'admission', from: 'readingNode', reason: NO_NODE },
  {
    machine: 'lease',
    from: 'renewing',
    event: 'xstate.done.actor.0.lease.renewing',
    index: 1,
    reason: NO_NODE,
    isRare: true,
  },
  { machine: 'lease', from: 'awaitingNode', event: 'timer.elapsed', reason: NO_NODE, isRare: true },
  { machine: 'certificate', reason: NO_CERTIFICATE },
];

/** Whether a reason applies to a transition. */
export const appliesTo = (
  { machine, from, event, index }: Unreached,
  transition: Omit<KnownTransition, 'to'>,
): boolean =>
  machine === transition.machine &&
  (from === undefined || from === transition.from) &&
  (event === undefined || event === transition.event) &&
  (index === undefined || index === transition.index);

/** Returns the reason why a transition is not taken, or undefined if there is none. */
export const reasonOf = (transition: Omit<KnownTransition, 'to'>): string | undefined =>
  unreached.find((each) => appliesTo(each, transition))?.reason;
