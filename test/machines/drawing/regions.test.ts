import { describe, expect, test } from '@jest/globals';
import { machines } from '../../../machines/drawing/charts.ts';
import {
  hasNoBox,
  isInside,
  mainPathOf,
  regionColumns,
  regionOf,
  regionsOf,
} from '../../../machines/drawing/regions.ts';
import { dottedPath, nodesOf } from '../../../machines/drawing/ways.ts';
import type { StateMeta } from '../../../machines/shared/stateMeta.ts';

/** Maximum number of states that a chart can show without regions, because more are hard to grasp at a glance. */
const MOST_AT_A_GLANCE = 20;

describe.each(machines.map((machine) => [machine.id, machine] as const))('the regions of %s', (_, machine) => {
  const nodes = nodesOf(machine.root).slice(1);
  const states = nodes.map(dottedPath);
  const regions = regionsOf(machine);

  test('exist if it has many states', () => {
    expect(regions.length > 1).toBe(states.length > MOST_AT_A_GLANCE);
    expect(new Set(regions.map(({ id }) => id)).size).toBe(regions.length);
  });

  test('contain each state, and states name no other region', () => {
    // Every machine here declares StateMeta as its meta type.
    const named = nodes.flatMap(({ meta }) => (meta as StateMeta | undefined)?.region ?? []);
    expect([...new Set(named)].toSorted()).toEqual(regions.map(({ id }) => id).toSorted());
    if (regions.length > 0) expect(states.filter((state) => regionOf(machine, state) === undefined)).toEqual([]);
  });

  test('have columns of exactly their own states', () => {
    for (const region of [undefined, ...regions]) {
      const columns = regionColumns(machine, region)?.flat();
      if (columns === undefined) continue;
      expect(new Set(columns).size).toBe(columns.length);
      const own = nodes.filter((node) => region === undefined || regionOf(machine, dottedPath(node)) === region);
      const isPlaced = (state: string) => columns.some((each) => isInside(state, each));
      // A collapsed state is placed together with its parent. A state without a box is not placed itself, only its
      // substates are.
      expect(own.filter((node) => !isPlaced(dottedPath(node)) && !hasNoBox(node)).map(dottedPath)).toEqual([]);
    }
  });
});

test('a substate may belong to a different region than its parent', () => {
  const [container] = machines.filter(({ id }) => id === 'container');
  if (container === undefined) throw new Error('there is no machine of containers');
  expect(regionOf(container, 'pending.waiting')?.title).toBe('run and restart');
  expect(regionOf(container, 'pending.resetting')?.id).toBe('reset');
  expect(regionOf(container, 'runningOn')).toBeUndefined();
});

test('only the run of a container has a main path, in the order of the chart', () => {
  const paths = machines.flatMap((machine) =>
    regionsOf(machine).flatMap((region) =>
      (mainPathOf(machine, region) ?? []).map((state) => `${machine.id} ${state}`),
    ),
  );
  expect(paths.filter((path) => !path.startsWith('container '))).toEqual([]);
  expect(paths.at(0)).toBe('container pending.restarting');
  expect(paths.at(-1)).toBe('container running.steady');
});
