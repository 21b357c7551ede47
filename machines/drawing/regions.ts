/** Which part of a machine a state belongs to. */
import type { AnyStateMachine } from 'xstate';
import { containerRegions } from '../container/regions.ts';
import { podRegions } from '../pod/regions.ts';
import type { Region } from './region.ts';

const REGIONS = new Map([
  ['container', containerRegions],
  ['pod', podRegions],
]);

/** The regions of a machine; none of one that is seen at a glance. */
export const regionsOf = (machine: AnyStateMachine): readonly Region[] => REGIONS.get(machine.id) ?? [];

/** How machines stand that have no regions, and go round. */
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

/** Where boxes stand, in a region or the whole of a machine. */
export const columnsIn = (machine: AnyStateMachine, region?: Region): Region['columns'] =>
  region ? region.columns : COLUMNS.get(machine.id);

/** Whether a state is another one, or inside it. */
export const isInside = (state: string, outer: string): boolean => state === outer || state.startsWith(`${outer}.`);

/** The region of a state: the one that holds it most closely. */
export function regionOf(regions: readonly Region[], state: string): Region | undefined {
  const held = regions.flatMap((region) => region.holds.map((outer) => ({ region, outer })));
  const holding = held.filter(({ outer }) => isInside(state, outer));
  return holding.sort((one, other) => other.outer.length - one.outer.length)[0]?.region;
}
