import { atServer } from './atServer.ts';
import { bounded } from './bounded.ts';
import { containersContinue } from './containersContinue.ts';
import { cost } from './cost.ts';
import { deadlineGrace } from './deadlineGrace.ts';
import { eventsOnce } from './eventsOnce.ts';
import { explained } from './explained.ts';
import { foreignUnchanged } from './foreignUnchanged.ts';
import { forwardOnly } from './forwardOnly.ts';
import { freedResources } from './freedResources.ts';
import { graceShrinks } from './graceShrinks.ts';
import type { Invariant } from './invariant.ts';
import { nothingLeft } from './nothingLeft.ts';
import { objectsShown } from './objectsShown.ts';
import { oneLiveContainer } from './oneLiveContainer.ts';
import { runsAsWanted } from './runsAsWanted.ts';
import { startOrder } from './startOrder.ts';
import { steady } from './steady.ts';

/** The invariants of this package. */
export const invariants: readonly Invariant[] = [
  oneLiveContainer,
  startOrder,
  forwardOnly,
  graceShrinks,
  deadlineGrace,
  containersContinue,
  foreignUnchanged,
  nothingLeft,
  runsAsWanted,
  freedResources,
  explained,
  eventsOnce,
  bounded,
  steady,
  atServer,
  objectsShown,
  cost,
];

/** Invariants that only a long run can break, because they limit memory that accumulates. */
const LONG_RUN: readonly Invariant[] = [bounded, steady];

/** The invariants that a story of one minute can break. */
export const shortRunInvariants: readonly Invariant[] = invariants.filter((each) => !LONG_RUN.includes(each));
