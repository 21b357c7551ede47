import { describe, expect, test } from '@jest/globals';
import { machines } from '../../../machines/drawing/charts.ts';
import { columnsIn, isInside, regionOf, regionsOf } from '../../../machines/drawing/regions.ts';
import { dotted, nodesOf } from '../../../machines/drawing/ways.ts';

/** More are not seen at a glance. */
const MOST_AT_A_GLANCE = 20;

describe.each(machines.map((machine) => [machine.id, machine] as const))('the regions of %s', (_, machine) => {
  const states = nodesOf(machine.root).slice(1).map(dotted);
  const regions = regionsOf(machine);

  test('exist if it has many states', () => {
    expect(regions.length > 1).toBe(states.length > MOST_AT_A_GLANCE);
    expect(new Set(regions.map(({ id }) => id)).size).toBe(regions.length);
  });

  test('contain each state once, and no unknown state', () => {
    const named = regions.flatMap(({ holds, open = [], straight = [], columns = [] }) => [
      ...holds,
      ...open,
      ...straight,
      ...columns.flat(),
    ]);
    expect(named.filter((state) => !states.includes(state))).toEqual([]);
    if (regions.length > 0) expect(states.filter((state) => regionOf(regions, state) === undefined)).toEqual([]);
    const held = regions.flatMap(({ holds }) => holds);
    expect(new Set(held).size).toBe(held.length);
  });

  test('have columns of exactly their own states', () => {
    for (const region of [undefined, ...regions]) {
      const columns = columnsIn(machine, region)?.flat();
      if (columns === undefined) continue;
      expect(new Set(columns).size).toBe(columns.length);
      const own = states.filter((state) => region === undefined || regionOf(regions, state) === region);
      const isPlaced = (state: string) => columns.some((each) => isInside(state, each));
      const isOpen = (state: string) => region?.open?.includes(state) === true;
      // What is folded away has its place with its parent; of an open one only what stands for itself.
      expect(own.filter((state) => !isPlaced(state) && !isOpen(state))).toEqual([]);
    }
  });
});
