/** A recording alone, as the page asks about it. */
import type { Inspected } from './inspected.ts';
import type { Past } from './past.ts';

/** After whatever was recorded. */
const LAST = 8.64e15;

/** Without a moment, questions are about the last one. */
export const recordedNode = (past: Past, close: () => Promise<void>): Inspected => ({
  moment: (at = LAST) => past.moment(at),
  story: past.story,
  rail: () => past.rail(),
  detail: (path, at = LAST) => past.detail(path, at),
  actorHistory: (path, at = LAST) => past.actorHistory(path, at),
  object: (uid, at = LAST) => past.object(uid, at),
  entry: past.entry,
  close,
});
