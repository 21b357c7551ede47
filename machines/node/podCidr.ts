/** Whether the runtime has the addresses of the node's pods: a plain reducer, which its feed sends and `explain node` shows. */
import type { Failure } from '../../base/failure.ts';
import type { FeedView } from '../../show/actors/actorNode.ts';

export interface PodCidrState {
  /** The addresses that the node wants its pods to have, such as `10.1.0.0/24` or `10.1.0.0/24,fd00:1::/64`. */
  readonly podCidr: string;
  /** Since when it is so, in milliseconds since the epoch. */
  readonly since: number;
  /** The reason why the runtime has not taken them. Undefined if it has. */
  readonly failure?: Failure;
}

/** The state after an attempt to send the addresses, which is the same one if that is no news. */
export function nextPodCidr(
  state: PodCidrState | undefined,
  { podCidr, failure }: Pick<PodCidrState, 'podCidr' | 'failure'>,
  at: number,
): PodCidrState {
  const isSame =
    state?.podCidr === podCidr &&
    state.failure?.reason === failure?.reason &&
    state.failure?.message === failure?.message;
  return isSame ? state : { podCidr, since: at, ...(failure ? { failure } : {}) };
}

/** The addresses as a part of the node. A node without any shows none. */
export function podCidrViews(state: PodCidrState | undefined): FeedView[] {
  if (state === undefined) return [];
  const { podCidr, since, failure } = state;
  const own = { name: 'podCidr', path: 'podCidr', since };
  if (failure === undefined) return [{ ...own, state: 'applied', tags: ['steady'], facts: [`pods have ${podCidr}`] }];
  const waitingFor = `the runtime to take ${podCidr} as the addresses of pods, retried every 10s`;
  return [{ ...own, state: 'failing', tags: ['retrying'], waitingFor, facts: [], lastFailure: failure }];
}
