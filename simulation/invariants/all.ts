import { asWanted } from './asWanted.ts';
import { bounded } from './bounded.ts';
import { deadlineGrace } from './deadlineGrace.ts';
import { explained } from './explained.ts';
import { forwardOnly } from './forwardOnly.ts';
import { graceShrinks } from './graceShrinks.ts';
import type { Invariant } from './invariant.ts';
import { nothingLeft } from './nothingLeft.ts';
import { notOurs } from './notOurs.ts';
import { oneLiveContainer } from './oneLiveContainer.ts';
import { startOrder } from './startOrder.ts';
import { steady } from './steady.ts';
import { toldOnce } from './toldOnce.ts';
import { untouched } from './untouched.ts';

/** Everything that has to hold after every step. */
export const invariants: readonly Invariant[] = [
  ...[oneLiveContainer, startOrder, forwardOnly, graceShrinks, deadlineGrace, untouched, notOurs],
  ...[nothingLeft, asWanted, explained, toldOnce, bounded, steady],
];

/** The same but for what an agent takes up in the long run, which is the matter of longer stories. */
export const atOnce: readonly Invariant[] = invariants.filter((each) => each !== bounded);
