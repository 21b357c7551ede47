/**
 * Defines the shared reasons why simulations never, or only rarely, take a transition. A reason that only one machine
 * uses is declared beside the transition.
 */

export interface CoverageGap {
  readonly reason: string;
  /** Whether random simulations take the transition, but only rarely. */
  readonly isRare?: true;
}

export const SERVICE_NEVER_FAILS: CoverageGap = {
  reason: 'defensive: the service always responds with a result; tested on its machine',
};
export const NO_ACTOR_FAILS: CoverageGap = { reason: 'defensive: no actor throws by itself; tested on its machine' };
export const NO_POD_BREAKS: CoverageGap = {
  reason: 'defensive: a pod breaks only if an actor in it throws, and none does; tested on its machine',
};
export const NO_STALE_DEADLINE: CoverageGap = {
  reason: 'defensive: the timer of an obsolete deadline is stopped at once; tested on its machine',
};
const NODE_UNCHANGED_REASON =
  'no story deletes the Node or changes its labels; tested on its machine and in test/actors/cluster';
export const NODE_NEVER_DELETED: CoverageGap = { reason: NODE_UNCHANGED_REASON };
export const NODE_RARELY_DELETED: CoverageGap = { reason: NODE_UNCHANGED_REASON, isRare: true };
export const NO_LARGE_VARIABLES: CoverageGap = {
  reason:
    'no story has variables of more than 16 MiB; tested on its machine and in test/actors/largeEnvironment.test.ts',
};
export const NO_LOST_DEVICES: CoverageGap = {
  reason: 'no story loses the checkpoint of devices; tested on its machine',
};
export const RARELY_TAKEN: CoverageGap = {
  reason: 'random stories take it only if several events coincide; tested on its machine',
  isRare: true,
};
