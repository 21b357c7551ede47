import { expect, test } from '@jest/globals';
import { runProcess } from './runProcess.ts';

const location = 'test/testing/simulation/work/loops.ts:2 linear';

test('counts each iteration of a loop, equally in equal runs', async () => {
  const { linear, quadratic } = (await runProcess('counterProcess.ts')) as {
    readonly linear: unknown;
    readonly quadratic: unknown;
  };
  // The function itself runs once.
  expect(linear).toEqual([[{ location, count: 101 }], [{ location, count: 101 }], [{ location, count: 401 }]]);
  expect(quadratic).toEqual([
    expect.arrayContaining([{ location, count: 10 * 11 }]),
    expect.arrayContaining([{ location, count: 40 * 41 }]),
  ]);
}, 60_000);
