/** How a source of pods gets on: a plain state, which it tells when it changes and `explain node` shows. */
import { goDuration } from '../../base/duration.ts';
import type { Failure } from '../../base/failure.ts';
import type { FeedView } from '../../show/actors/actorNode.ts';
import type { StateTag } from '../shared/stateMeta.ts';
import { countFacts, type ObjectCounts } from './objectCounts.ts';

export interface SourceState {
  /**
   * `watching` hears of changes at once, `polling` with the next look; `settling` holds back what is being written, and
   * `broken` by a fault of its own looks no more.
   */
  readonly state: 'reading' | 'watching' | 'polling' | 'settling' | 'absent' | 'failing' | 'broken';
  /** Since when it is so, in milliseconds since the epoch. */
  readonly since: number;
  /** The path, or the URL without its secrets. */
  readonly place: string;
  /** How often it is looked at, in milliseconds; absent: it tells of changes itself. */
  readonly everyMs?: number;
  /** When the wait is over, in milliseconds since the epoch; absent: nobody can tell, as while it is being looked at. */
  readonly until?: number;
  readonly failure?: Failure;
  /** Of what holds objects one by one. */
  readonly counts?: ObjectCounts;
}

/** Where it has come to, as it knows it itself. */
export type SourceStep = Pick<SourceState, 'state' | 'until' | 'counts'> & { readonly failure?: string };

/** The state after a step; the same one when that is no news. */
export function nextSourceState(
  before: SourceState | undefined,
  { state, until, failure: message, counts }: SourceStep,
  { now, ...own }: Pick<SourceState, 'place' | 'everyMs'> & { readonly now: number },
): SourceState {
  const isSame = before?.state === state && before.until === until && before.failure?.message === message;
  if (isSame && JSON.stringify(before.counts) === JSON.stringify(counts)) return before;
  const since = before?.state === state ? before.since : now;
  return {
    state,
    since,
    ...own,
    ...(until === undefined ? {} : { until }),
    ...(message === undefined
      ? {}
      : { failure: isSame && before.failure ? before.failure : { reason: 'FailedRead', message, at: now } }),
    ...(counts === undefined ? {} : { counts }),
  };
}

/** The state of a source whose wait is over, until it has looked again: nobody can tell how long that takes. */
export const whileLooking = ({ until: _, ...state }: SourceState): SourceState => state;

type SourceWaits = Readonly<Partial<Record<SourceState['state'], string>>>;

const WAITS: SourceWaits = {
  reading: 'its pods to be read',
  settling: 'empty files to be written',
  absent: 'the path to exist',
  failing: 'another attempt to read it',
  broken: 'a restart of the agent',
};
const TAGS: Readonly<Record<SourceState['state'], StateTag>> = {
  reading: 'working',
  watching: 'steady',
  polling: 'steady',
  settling: 'waiting',
  absent: 'waiting',
  failing: 'retrying',
  broken: 'broken',
};
const INOTIFY = 'inotify, retried at each poll';

type Shown = Pick<SourceState, 'state' | 'since' | 'until' | 'failure'>;

function waitOf({ state, until, failure }: Shown, waits: SourceWaits): string | undefined {
  if (state === 'polling' && failure) return INOTIFY;
  // It is being read again.
  return state === 'failing' && until === undefined ? waits.reading : waits[state];
}

function viewOf(shown: Shown, waits: SourceWaits) {
  const { state, since, until, failure } = shown;
  const waitingFor = waitOf(shown, waits);
  return {
    state,
    tags: [TAGS[state]],
    since,
    ...(waitingFor === undefined ? {} : { waitingFor }),
    ...(until === undefined ? {} : { until }),
    ...(failure ? { lastFailure: failure } : {}),
  };
}

const readsOf = ({ place, everyMs }: SourceState): string =>
  everyMs === undefined ? `follows ${place}` : `reads ${place} every ${goDuration(everyMs)}`;

/** The source as it is shown; one that tells no state of its own only lists its pods, or has yet to. */
export function sourceView(
  source: string,
  told: SourceState | undefined,
  node: { readonly begun: number; readonly hasListed: boolean },
): FeedView {
  const known: Shown = told ?? { state: node.hasListed ? 'watching' : 'reading', since: node.begun };
  return {
    name: `${source} source`,
    path: `sources/${source}`,
    ...viewOf(known, WAITS),
    ...(told ? { facts: [readsOf(told)] } : {}),
  };
}

const WATCH_WAITS: SourceWaits = {
  reading: 'all of them to be read',
  failing: 'another attempt to watch them',
  broken: 'a restart of the agent',
};

/** A set of objects that is followed at the API server, as it is shown. */
export const watchView = (kind: string, told: SourceState): FeedView => ({
  kind: 'watch',
  name: kind,
  path: `watches/${kind}`,
  ...viewOf(told, WATCH_WAITS),
  facts: [readsOf(told), ...(told.counts ? countFacts(told.counts) : [])],
});
