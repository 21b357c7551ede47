/** Serves the page of a recording without a running node. */
import type { InspectedNode } from '../inspected.ts';
import type { Past } from './past.ts';

/** The latest time that a Date can represent, which is after all recorded times. */
const MAX_DATE_MS = 8.64e15;

/**
 * Creates the provider of the page's data for a recording. Requests without a time refer to the end of the recording.
 */
export const createRecordedNode = (past: Past, close: () => Promise<void>): InspectedNode => ({
  moment: (at = MAX_DATE_MS) => past.moment(at),
  story: past.story,
  rail: () => past.rail(),
  detail: (path, at = MAX_DATE_MS) => past.detail(path, at),
  actorHistory: (path, at = MAX_DATE_MS) => past.actorHistory(path, at),
  object: (uid, at = MAX_DATE_MS) => past.object(uid, at),
  entry: past.entry,
  close,
});
