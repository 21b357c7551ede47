import { preparedClaims } from './claims.ts';
import { containersContinue } from './containers/containersContinue.ts';
import { deadlineGrace } from './containers/deadlineGrace.ts';
import { foreignUnchanged } from './containers/foreignUnchanged.ts';
import { graceShrinks } from './containers/graceShrinks.ts';
import { imagesInUse } from './containers/imagesInUse.ts';
import { oneLiveContainer } from './containers/oneLiveContainer.ts';
import { runsAsWanted } from './containers/runsAsWanted.ts';
import { startOrder } from './containers/startOrder.ts';
import { allocatedDevices, exclusiveDevices } from './devices.ts';
import { evictionInvariants } from './evictions.ts';
import { exclusiveCpus } from './exclusiveCpus.ts';
import type { Invariant } from './invariant.ts';
import { numaAlignment } from './numaAlignment.ts';
import { numaMemory } from './numaMemory.ts';
import { preemptionInvariants } from './preemptions.ts';
import { nothingLeft } from './progress/nothingLeft.ts';
import { steady } from './progress/steady.ts';
import { bounded } from './resources/bounded.ts';
import { cost } from './resources/cost.ts';
import { freedResources } from './resources/freedResources.ts';
import { allocatedWithinNode, resizesApplied } from './resources/podResources.ts';
import { shutdownInvariants } from './shutdowns.ts';
import { atServer } from './statuses/atServer.ts';
import { eventsOnce } from './statuses/eventsOnce.ts';
import { explained } from './statuses/explained.ts';
import { forwardOnly } from './statuses/forwardOnly.ts';
import { oomKillsShown } from './statuses/oomKillsShown.ts';
import { objectsShown } from './volumes/objectsShown.ts';

/** All invariants of this package. */
export const invariants: readonly Invariant[] = [
  oneLiveContainer,
  exclusiveCpus,
  exclusiveDevices,
  allocatedDevices,
  ...preparedClaims,
  startOrder,
  forwardOnly,
  graceShrinks,
  deadlineGrace,
  containersContinue,
  foreignUnchanged,
  nothingLeft,
  runsAsWanted,
  freedResources,
  allocatedWithinNode,
  resizesApplied,
  explained,
  eventsOnce,
  bounded,
  steady,
  atServer,
  objectsShown,
  oomKillsShown,
  cost,
  imagesInUse,
  numaMemory,
  numaAlignment,
  ...evictionInvariants,
  ...preemptionInvariants,
  ...shutdownInvariants,
];

/** Invariants that only a long run can violate, because they limit memory that accumulates. */
const LONG_RUN: readonly Invariant[] = [bounded, steady];

/** Invariants that a story of one minute can violate. */
export const shortRunInvariants: readonly Invariant[] = invariants.filter((each) => !LONG_RUN.includes(each));
