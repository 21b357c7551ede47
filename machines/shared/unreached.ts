/**
 * Defines why no simulation takes a transition. The machines share these reasons. Other reasons are declared beside
 * their transitions.
 */

export interface Unreached {
  readonly reason: string;
  /** Whether randomly generated stories take the transition occasionally. */
  readonly isRare?: true;
}

export const NO_FAILURE: Unreached = {
  reason: 'defensive: the service always responds with a result; tested on its machine',
};
export const NO_ACTOR_FAILS: Unreached = { reason: 'defensive: no actor throws by itself; tested on its machine' };
export const NO_POD_BREAKS: Unreached = {
  reason: 'defensive: a pod breaks only if an actor in it throws, and none does; tested on its machine',
};
export const NO_STALE_DEADLINE: Unreached = {
  reason: 'defensive: the timer of an obsolete deadline is stopped at once; tested on its machine',
};
const NO_NODE = 'no story deletes the Node or changes its labels; tested on its machine and in test/actors/cluster';
export const NODE_STAYS: Unreached = { reason: NO_NODE };
export const NODE_RARELY_LEAVES: Unreached = { reason: NO_NODE, isRare: true };
export const RARE: Unreached = {
  reason: 'random stories take it only if several events coincide; tested on its machine',
  isRare: true,
};
