/** Maps states to the regions of their machine. */
import type { AnyStateMachine } from 'xstate';
import { containerRegions } from '../container/regions.ts';
import { podRegions } from '../pod/regions.ts';
import type { Region } from './region.ts';

const REGIONS = new Map([
  ['container', containerRegions],
  ['pod', podRegions],
]);

/** The regions of a machine. Small machines have none. */
export const regionsOf = (machine: AnyStateMachine): readonly Region[] => REGIONS.get(machine.id) ?? [];

/** Layout of machines without regions whose states form a cycle. */
const COLUMNS: ReadonlyMap<string, NonNullable<Region['columns']>> = new Map([
  [
    'image',
    [
      ['checking', 'missing', 'awaitingRetry'],
      ['queued', 'checkingAgain', 'found'],
      ['pulling', 'failed', 'backingOff'],
    ],
  ],
  [
    'volume',
    [
      ['new', 'mounting', 'awaitingRetry'],
      ['gettingImage', 'mounted'],
      ['unmounting', 'awaitingUnmountRetry', 'unmounted'],
    ],
  ],
]);

/** The layout of a region or, without one, of the whole machine. */
export const columnsIn = (machine: AnyStateMachine, region?: Region): Region['columns'] =>
  region ? region.columns : COLUMNS.get(machine.id);

/** Whether a state is `outer` or one of its substates. */
export const isInside = (state: string, outer: string): boolean => state === outer || state.startsWith(`${outer}.`);

/** Returns the most specific region that contains a state. */
export function regionOf(regions: readonly Region[], state: string): Region | undefined {
  const held = regions.flatMap((region) => region.holds.map((outer) => ({ region, outer })));
  const holding = held.filter(({ outer }) => isInside(state, outer));
  return holding.sort((one, other) => other.outer.length - one.outer.length)[0]?.region;
}
