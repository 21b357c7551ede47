import { asWanted } from './asWanted.ts';
import { atServer } from './atServer.ts';
import { bounded } from './bounded.ts';
import { cost } from './cost.ts';
import { deadlineGrace } from './deadlineGrace.ts';
import { explained } from './explained.ts';
import { forwardOnly } from './forwardOnly.ts';
import { freedResources } from './freedResources.ts';
import { graceShrinks } from './graceShrinks.ts';
import type { Invariant } from './invariant.ts';
import { nothingLeft } from './nothingLeft.ts';
import { notOurs } from './notOurs.ts';
import { objectsShown } from './objectsShown.ts';
import { oneLiveContainer } from './oneLiveContainer.ts';
import { startOrder } from './startOrder.ts';
import { steady } from './steady.ts';
import { toldOnce } from './toldOnce.ts';
import { untouched } from './untouched.ts';

/** The invariants of this package. */
export const invariants: readonly Invariant[] = [
  oneLiveContainer,
  startOrder,
  forwardOnly,
  graceShrinks,
  deadlineGrace,
  untouched,
  notOurs,
  nothingLeft,
  asWanted,
  freedResources,
  explained,
  toldOnce,
  bounded,
  steady,
  atServer,
  objectsShown,
  cost,
];

/** Invariants that only a long run can break, because they limit memory that accumulates. */
const IN_THE_LONG_RUN: readonly Invariant[] = [bounded, steady];

/** The invariants that a story of one minute can break. */
export const atOnce: readonly Invariant[] = invariants.filter((each) => !IN_THE_LONG_RUN.includes(each));
