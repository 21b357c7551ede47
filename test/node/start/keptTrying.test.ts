/** What is tried until it can be had. */
import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { keptTrying, RETRY_MS } from '../../../node/start/keptTrying.ts';

function tried(answers: readonly string[]) {
  const clock = new SimulatedClock();
  const left = [...answers];
  const log: string[] = [];
  const kept = keptTrying({
    make: async () => {
      const why = left.shift() ?? '';
      if (why !== '') throw new Error(why);
      return { close: async () => void log.push('closed') };
    },
    clock,
    onMade: () => void log.push('made'),
    onProblem: (why: string) => void log.push(why),
  });
  return { clock, log, kept, left };
}

test('it is tried again each 5 s, and the same problem is told once', async () => {
  const { clock, log, kept } = tried(['taken', 'taken', 'forbidden']);
  await clock.advance(0);
  expect(log).toEqual(['taken']);
  await clock.advance(2 * RETRY_MS);
  expect(log).toEqual(['taken', 'forbidden']);
  await clock.advance(RETRY_MS);
  expect(log).toEqual(['taken', 'forbidden', 'made']);
  await kept.close();
  expect(log.at(-1)).toBe('closed');
});

test('once it is closed nothing is tried', async () => {
  const { clock, log, kept, left } = tried(['taken', 'taken']);
  await clock.advance(0);
  await kept.close();
  await clock.advance(10 * RETRY_MS);
  expect(log).toEqual(['taken']);
  expect(left).toEqual(['taken']);
});
