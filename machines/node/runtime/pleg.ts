/** Computes the state of the PLEG as a pure reducer. The feed sends the state, and `explain node` shows it. */
import type { Failure } from '../../../base/failure.ts';
import type { FeedView } from '../../../show/actors/actorNode.ts';

export interface PlegState {
  /** Time at which this state was entered, in milliseconds since the epoch. 0 initially. */
  readonly since: number;
  /** State of the runtime's event stream. */
  readonly stream: 'opening' | 'open' | 'broken';
  readonly streamFailure?: Failure;
  /** Reason why the last attempt to list the runtime's pods, or to inspect the listed pods, failed. */
  readonly listFailure?: Failure;
  /**
   * Time at which the runtime's pods were last listed successfully, in milliseconds since the epoch. Set only while
   * listing fails.
   */
  readonly staleSince?: number;
}

export type PlegChange =
  | { readonly type: 'streamOpened' | 'listed' }
  | { readonly type: 'streamBroke'; readonly failure: Failure }
  | { readonly type: 'listFailed'; readonly failure: Failure; readonly staleSince?: number | undefined };

export const initialPleg: PlegState = { since: 0, stream: 'opening' };

/**
 * Returns the state after a change. Returns the same object if nothing has changed, e.g. if a retry fails in the same
 * way.
 */
export function nextPlegState(state: PlegState, change: PlegChange, since: number): PlegState {
  const { stream, streamFailure, listFailure, staleSince } = state;
  switch (change.type) {
    case 'streamOpened':
      return stream === 'open' ? state : { since, stream: 'open', ...listFailureFields(listFailure, staleSince) };
    case 'streamBroke':
      if (stream === 'broken' && isSameFailure(streamFailure, change.failure)) return state;
      return {
        ...state,
        since: stream === 'broken' ? state.since : since,
        stream: 'broken',
        streamFailure: change.failure,
      };
    case 'listed':
      return listFailure === undefined ? state : { since, stream, ...(streamFailure ? { streamFailure } : {}) };
    case 'listFailed':
      if (isSameFailure(listFailure, change.failure) && staleSince === change.staleSince) return state;
      return {
        since: listFailure ? state.since : since,
        stream,
        ...(streamFailure ? { streamFailure } : {}),
        ...listFailureFields(change.failure, change.staleSince),
      };
  }
}

const listFailureFields = (listFailure?: Failure, staleSince?: number) => ({
  ...(listFailure ? { listFailure } : {}),
  ...(staleSince === undefined ? {} : { staleSince }),
});

const isSameFailure = (first: Failure | undefined, second: Failure): boolean =>
  first?.reason === second.reason && first.message === second.message;

/** Returns the interval at which the runtime's pods are listed, in words. */
const listInterval = ({ stream }: PlegState): string => (stream === 'open' ? 'every 10s' : 'every second');

/** Returns the PLEG as a feed in the actor tree. `startedAt` is the start time of the node. */
export function plegView(pleg: PlegState, startedAt: number): FeedView {
  const { since, listFailure, streamFailure } = pleg;
  const own = {
    name: 'pleg',
    path: 'pleg',
    since: since || startedAt,
    facts: [`lists the runtime ${listInterval(pleg)}`],
  };
  if (listFailure) {
    const waitingFor = `the runtime to list its pods, retried ${listInterval(pleg)}`;
    return { ...own, state: 'failing', tags: ['retrying'], waitingFor, facts: [], lastFailure: listFailure };
  }
  if (pleg.stream === 'open') return { ...own, state: 'streaming', tags: ['steady'] };
  const waitingFor = "the runtime's event stream, retried every second";
  if (pleg.stream === 'opening') return { ...own, state: 'opening', tags: ['working'], waitingFor };
  return {
    ...own,
    state: 'polling',
    tags: ['retrying'],
    waitingFor,
    ...(streamFailure ? { lastFailure: streamFailure } : {}),
  };
}
