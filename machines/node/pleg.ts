/** How the PLEG learns of changes at the runtime: a plain reducer, whose state its feed tells and `explain node` shows. */
import type { Failure } from '../../base/failure.ts';
import type { FeedView } from '../../show/actors/actorNode.ts';

export interface PlegState {
  /** Since when it is so, in milliseconds since the epoch; 0 before anything has happened. */
  readonly since: number;
  /** The runtime's event stream. */
  readonly stream: 'opening' | 'open' | 'broken';
  readonly streamFailure?: Failure;
  /** Why the latest list failed, or the look at what it showed. */
  readonly listFailure?: Failure;
  /** When the runtime was last listed, if it can not be now; in milliseconds since the epoch. */
  readonly staleSince?: number;
}

export type PlegChange =
  | { readonly type: 'streamOpened' | 'listed' }
  | { readonly type: 'streamBroke'; readonly failure: Failure }
  | { readonly type: 'listFailed'; readonly failure: Failure; readonly staleSince?: number | undefined };

export const newPleg: PlegState = { since: 0, stream: 'opening' };

/** The state after a change; the same one when that is no news, as when what is tried again fails as before. */
export function nextPleg(state: PlegState, change: PlegChange, since: number): PlegState {
  const { stream, streamFailure, listFailure, staleSince } = state;
  switch (change.type) {
    case 'streamOpened':
      return stream === 'open' ? state : { since, stream: 'open', ...listTrouble(listFailure, staleSince) };
    case 'streamBroke':
      if (stream === 'broken' && isSame(streamFailure, change.failure)) return state;
      return {
        ...state,
        since: stream === 'broken' ? state.since : since,
        stream: 'broken',
        streamFailure: change.failure,
      };
    case 'listed':
      return listFailure === undefined ? state : { since, stream, ...(streamFailure ? { streamFailure } : {}) };
    case 'listFailed':
      if (isSame(listFailure, change.failure) && staleSince === change.staleSince) return state;
      return {
        since: listFailure ? state.since : since,
        stream,
        ...(streamFailure ? { streamFailure } : {}),
        ...listTrouble(change.failure, change.staleSince),
      };
  }
}

const listTrouble = (listFailure?: Failure, staleSince?: number) => ({
  ...(listFailure ? { listFailure } : {}),
  ...(staleSince === undefined ? {} : { staleSince }),
});

const isSame = (one: Failure | undefined, other: Failure): boolean =>
  one?.reason === other.reason && one.message === other.message;

/** How often the runtime is listed, in words. */
const listed = ({ stream }: PlegState): string => (stream === 'open' ? 'every 10s' : 'every second');

/** The PLEG as it is shown; `begun` is when the node began. */
export function plegView(pleg: PlegState, begun: number): FeedView {
  const { since, listFailure, streamFailure } = pleg;
  const own = {
    name: 'pleg',
    path: 'pleg',
    since: since || begun,
    facts: [`lists the runtime ${listed(pleg)}`],
  };
  if (listFailure) {
    const waitingFor = `the runtime to list its pods, retried ${listed(pleg)}`;
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
