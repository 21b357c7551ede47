/**
 * Tracks whether the runtime has accepted the node's pod CIDRs, as a pure reducer. The feed sends the state, and
 * `explain node` shows it.
 */
import type { Failure } from '../../../base/failure.ts';
import type { FeedView } from '../../../show/actors/actorNode.ts';

export interface PodCidrState {
  /** The pod CIDRs, such as `10.1.0.0/24` or `10.1.0.0/24,fd00:1::/64`. */
  readonly podCidr: string;
  /** Time at which this state was entered, in milliseconds since the epoch. */
  readonly since: number;
  /** Reason why the runtime has not accepted the pod CIDRs. Undefined if it has. */
  readonly failure?: Failure;
}

/** Returns the state after an attempt to send the pod CIDRs to the runtime. Returns the same object if nothing has changed. */
export function nextPodCidr(
  state: PodCidrState | undefined,
  { podCidr, failure }: Pick<PodCidrState, 'podCidr' | 'failure'>,
  at: number,
): PodCidrState {
  const isUnchanged =
    state?.podCidr === podCidr &&
    state.failure?.reason === failure?.reason &&
    state.failure?.message === failure?.message;
  return isUnchanged ? state : { podCidr, since: at, ...(failure ? { failure } : {}) };
}

/** Returns the pod CIDRs as a feed in the actor tree, or an empty list for a node without pod CIDRs. */
export function podCidrViews(state: PodCidrState | undefined): FeedView[] {
  if (state === undefined) return [];
  const { podCidr, since, failure } = state;
  const own = { name: 'podCidr', path: 'podCidr', since };
  if (failure === undefined) return [{ ...own, state: 'applied', tags: ['steady'], facts: [`pods have ${podCidr}`] }];
  const waitingFor = `the runtime to take ${podCidr} as the addresses of pods, retried every 10s`;
  return [{ ...own, state: 'failing', tags: ['retrying'], waitingFor, facts: [], lastFailure: failure }];
}
