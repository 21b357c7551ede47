import { beforeAll, expect, test } from '@jest/globals';
import { runProcess } from './runProcess.ts';

const location = 'test/testing/simulation/work/loops.ts:2 linear';

let counts: { readonly linear: unknown; readonly quadratic: unknown; readonly contains: unknown };

beforeAll(async () => {
  counts = (await runProcess('counterProcess.ts')) as typeof counts;
}, 60_000);

test('counts each iteration of a loop, equally in equal runs', () => {
  const { linear, quadratic } = counts;
  // The function itself runs once.
  expect(linear).toEqual([[{ location, count: 101 }], [{ location, count: 101 }], [{ location, count: 401 }]]);
  expect(quadratic).toEqual([
    expect.arrayContaining([{ location, count: 10 * 11 }]),
    expect.arrayContaining([{ location, count: 40 * 41 }]),
  ]);
});

test('counts the calls of a callback, however often it has run', () => {
  const calls = { location: 'test/testing/simulation/work/loops.ts:13 (anonymous)', count: 100 * 10_000 };
  const work = expect.arrayContaining([calls]);
  expect(counts.contains).toEqual([work, work, work]);
});
