/** Transitions that no simulation takes, with the reason why that stays so. */
import type { KnownTransition } from './transitions.ts';

/** What is left open is any. */
interface Unreached extends Partial<Pick<KnownTransition, 'from' | 'event' | 'index'>> {
  readonly machine: string;
  readonly reason: string;
}

const NO_FAILURE = 'defensive: the service answers with a result whatever happens; tested on its machine';
const NO_ACTOR_FAILS = 'defensive: no actor throws by itself; tested on its machine';
const OTHERS = 'the UID of the pod would have to be that of a pod which another agent has made; tested on its machine';
const NO_RESTART = 'the simulated runtime is not a child of the node, which could restart it; tested on its machine';
const WRITABLE = 'every simulated node may write to its cgroups; tested on its machine';
const ENFORCED = 'every simulated node limits its pods; tested on its machine';

const probeErrors = (['unknown', 'passing', 'failing'] as const).flatMap((state) =>
  (['spreading', 'probing'] as const).map((step) => ({
    ...{ machine: 'probe', from: `${state}.${step}`, reason: NO_FAILURE },
    event: `xstate.error.actor.0.probe.${state}.${step}`,
  })),
);

const cgroupOutcomes = (['settingUp', 'enforced', 'awaitingEnforcement', 'sharedWithOthers'] as const).flatMap(
  (state) => {
    const from = state === 'settingUp' ? state : `${state}.looking`;
    const looked = { machine: 'cgroups', from, event: `xstate.done.actor.0.cgroups.${from}` };
    return [
      { ...looked, index: 2, reason: WRITABLE },
      { ...looked, index: 3, reason: ENFORCED },
    ];
  },
);

export const unreached: readonly Unreached[] = [
  ...probeErrors,
  { machine: 'nodeAgent', event: 'xstate.error.actor.*', reason: NO_ACTOR_FAILS },
  { machine: 'nodeAgent', event: 'xstate.error.actor.cgroups', reason: NO_ACTOR_FAILS },
  { machine: 'nodeAgent', event: 'xstate.error.actor.logRotation', reason: NO_ACTOR_FAILS },
  { machine: 'nodeAgent', event: 'xstate.error.actor.garbage', reason: NO_ACTOR_FAILS },
  { machine: 'nodeAgent', event: 'feed.ended', reason: NO_ACTOR_FAILS },
  { machine: 'pod', event: 'xstate.error.actor.*', reason: NO_ACTOR_FAILS },
  { machine: 'pod', from: 'new', event: '', reason: OTHERS },
  { machine: 'pod', from: 'awaitingOthers', reason: OTHERS },
  { machine: 'pod', from: 'terminating.restartingRuntime', reason: NO_RESTART },
  { machine: 'pod', event: 'pod.conditionsChanged', reason: 'an API server sets conditions, and there is none' },
  ...cgroupOutcomes,
];

/** Whether a reason is given for a transition. */
export const isMeant = ({ machine, from, event, index }: Unreached, transition: Omit<KnownTransition, 'to'>): boolean =>
  machine === transition.machine &&
  (from === undefined || from === transition.from) &&
  (event === undefined || event === transition.event) &&
  (index === undefined || index === transition.index);
