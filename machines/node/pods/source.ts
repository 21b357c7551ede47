/**
 * Defines the state of a pod source. The source sends its state whenever the state changes, and `explain node` shows
 * it.
 */

import type { Failure } from '../../../base/failure.ts';
import { goDuration } from '../../../base/time/duration.ts';
import type { FeedView } from '../../../show/actors/actorNode.ts';
import type { StateTag } from '../../shared/stateMeta.ts';
import { countFacts, type ObjectCounts } from '../cluster/objectCounts.ts';

export interface SourceState {
  /**
   * In `watching`, the source is notified of changes, whereas in `polling` it detects them at the next poll. In
   * `settling`, it waits for files that are being written. In `broken`, it has stopped after an internal error.
   */
  readonly state: 'reading' | 'watching' | 'polling' | 'settling' | 'absent' | 'failing' | 'broken';
  /** Time at which this state was entered, in milliseconds since the epoch. */
  readonly since: number;
  /** The path of the source, or its URL without secrets. */
  readonly place: string;
  /** Polling interval in milliseconds. Undefined if the source is notified of changes. */
  readonly everyMs?: number;
  /** End of the wait in milliseconds since the epoch. Undefined if unknown, e.g. during a read. */
  readonly until?: number;
  readonly failure?: Failure;
  /** Object counts. Set only for watches that read objects individually. */
  readonly counts?: ObjectCounts;
}

/** A state change reported by a source. */
export type SourceChange = Pick<SourceState, 'state' | 'until' | 'counts'> & { readonly failure?: string };

/** Returns the state after the given change. Returns the same object if nothing has changed. */
export function nextSourceState(
  previous: SourceState | undefined,
  { state, until, failure: message, counts }: SourceChange,
  { now, ...sourceFields }: Pick<SourceState, 'place' | 'everyMs'> & { readonly now: number },
): SourceState {
  const isUnchanged = previous?.state === state && previous.until === until && previous.failure?.message === message;
  if (isUnchanged && JSON.stringify(previous.counts) === JSON.stringify(counts)) return previous;
  const since = previous?.state === state ? previous.since : now;
  return {
    state,
    since,
    ...sourceFields,
    ...(until === undefined ? {} : { until }),
    ...(message === undefined
      ? {}
      : { failure: isUnchanged && previous.failure ? previous.failure : { reason: 'FailedRead', message, at: now } }),
    ...(counts === undefined ? {} : { counts }),
  };
}

/** Returns the state of a source while it is being read. It has no deadline, because the duration is unknown. */
export const readingState = ({ until: _, ...state }: SourceState): SourceState => state;

type WaitDescriptions = Readonly<Partial<Record<SourceState['state'], string>>>;

const SOURCE_WAITS: WaitDescriptions = {
  reading: 'its pods to be read',
  settling: 'empty files to be written',
  absent: 'the path to exist',
  failing: 'another attempt to read it',
  broken: 'a restart of the agent',
};
const TAG_BY_STATE: Readonly<Record<SourceState['state'], StateTag>> = {
  reading: 'working',
  watching: 'steady',
  polling: 'steady',
  settling: 'waiting',
  absent: 'waiting',
  failing: 'retrying',
  broken: 'broken',
};
const INOTIFY_WAIT = 'inotify, retried at each poll';

type SourceSummary = Pick<SourceState, 'state' | 'since' | 'until' | 'failure'>;

function waitDescription({ state, until, failure }: SourceSummary, waits: WaitDescriptions): string | undefined {
  if (state === 'polling' && failure) return INOTIFY_WAIT;
  // A failed read without a deadline is being retried right now.
  return state === 'failing' && until === undefined ? waits.reading : waits[state];
}

function viewFields(summary: SourceSummary, waits: WaitDescriptions) {
  const { state, since, until, failure } = summary;
  const waitingFor = waitDescription(summary, waits);
  return {
    state,
    tags: [TAG_BY_STATE[state]],
    since,
    ...(waitingFor === undefined ? {} : { waitingFor }),
    ...(until === undefined ? {} : { until }),
    ...(failure ? { lastFailure: failure } : {}),
  };
}

const describeAccess = ({ place, everyMs }: SourceState): string =>
  everyMs === undefined ? `follows ${place}` : `reads ${place} every ${goDuration(everyMs)}`;

/**
 * Returns a source as a feed in the actor tree. A source without a reported state is watching or, until it has listed
 * its pods for the first time, reading.
 */
export function sourceView(
  source: string,
  state: SourceState | undefined,
  node: { readonly startedAt: number; readonly hasListed: boolean },
): FeedView {
  const summary: SourceSummary = state ?? { state: node.hasListed ? 'watching' : 'reading', since: node.startedAt };
  return {
    name: `${source} source`,
    path: `sources/${source}`,
    ...viewFields(summary, SOURCE_WAITS),
    ...(state ? { facts: [describeAccess(state)] } : {}),
  };
}

const WATCH_WAITS: WaitDescriptions = {
  reading: 'its objects to be read',
  failing: 'another attempt to watch its objects',
  broken: 'a restart of the agent',
};

/** Returns the watch on one kind of API object as a feed in the actor tree. */
export const watchView = (kind: string, state: SourceState): FeedView => ({
  kind: 'watch',
  name: kind,
  path: `watches/${kind}`,
  ...viewFields(state, WATCH_WAITS),
  facts: [describeAccess(state), ...(state.counts ? countFacts(state.counts) : [])],
});
