import { beforeAll, expect, test } from '@jest/globals';
import { crowds, idleNode } from '../../../../testing/simulation/work/crowds.ts';
import { excessOf } from '../../../../testing/simulation/work/growth.ts';
import type { Work } from '../../../../testing/simulation/work/workCounter.ts';
import { runProcess } from './runProcess.ts';

const workOf = (counts: Readonly<Record<string, number>>): Work =>
  new Map(Object.entries(counts).map(([id, count]) => [id, { id, name: id, location: `${id}.ts:1 ${id}`, count }]));

const excess = (small: Parameters<typeof workOf>[0], large: Parameters<typeof workOf>[0], mayGrowByStatuses = false) =>
  excessOf({ mayGrowByStatuses }, workOf(small), workOf(large));

const LIMIT_MS = 300_000;
let excessByCrowd: unknown;

beforeAll(async () => {
  excessByCrowd = await runProcess('growthProcess.ts');
}, LIMIT_MS);

test.each(crowds.map(({ name }) => name))('the work for one fact does not grow with the number of %s', (crowd) => {
  expect(excessByCrowd).toHaveProperty([crowd], []);
});

test('no work is measured if the containers of a crowd do not start', async () => {
  const node = await idleNode();
  node.perform({ kind: 'networkDown', forMs: 60 * 60_000 });
  await expect(crowds[0]?.phases[0]?.act(node, 1)).rejects.toThrow('0 of 2 containers run');
  node.kill();
});

test('the work per fact may grow by a quarter, and by three quarters because of statuses', () => {
  expect(excess({ a: 1_000, b: 1_000 }, { a: 1_200, b: 1_300 })).toBeUndefined();
  expect(excess({ a: 1_000, b: 1_000 }, { a: 1_200, b: 1_301 })).toBeDefined();
  expect(excess({ a: 1_000, b: 1_000 }, { a: 2_000, b: 1_500 }, true)).toBeUndefined();
  expect(excess({ a: 1_000, b: 1_000 }, { a: 2_000, b: 1_501 }, true)).toBeDefined();
});

test('excessive growth names the functions that have grown most', () => {
  expect(excess({ first: 1_000, second: 500, third: 10 }, { first: 1_100, second: 1_000, third: 10 })).toBe(
    [
      'work per fact grows from 1510 to 2110, of which',
      '  second.ts:1 second: from 500.0 to 1000.0',
      '  first.ts:1 first: from 1000.0 to 1100.0',
      '  third.ts:1 third: from 10.0 to 10.0',
    ].join('\n'),
  );
});

test('a single function that runs for all objects after each fact is excessive, even if most work does not grow', () => {
  expect(excess({ most: 10_000, loop: 50 }, { most: 10_000, loop: 200 })).toBe(
    'work per fact grows from 10050 to 10200, of which\n  loop.ts:1 loop: from 50.0 to 200.0',
  );
  expect(excess({ most: 10_000, loop: 20 }, { most: 10_000, loop: 80 })).toBeUndefined();
});
