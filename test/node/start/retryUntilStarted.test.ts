import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { RETRY_MS, retryUntilStarted } from '../../../node/start/retryUntilStarted.ts';

function startFailing(problems: readonly string[]) {
  const clock = new SimulatedClock();
  const remaining = [...problems];
  const log: string[] = [];
  const service = retryUntilStarted({
    startService: async () => {
      const problem = remaining.shift();
      if (problem !== undefined) throw new Error(problem);
      return { close: async () => void log.push('closed') };
    },
    clock,
    onStarted: () => void log.push('started'),
    onProblem: (why: string) => void log.push(why),
  });
  return { clock, log, service, remaining };
}

test('a service is retried every 5 s until it starts, and the same problem is reported once', async () => {
  const { clock, log, service } = startFailing(['in use', 'in use', 'forbidden']);
  await clock.advance(0);
  expect(log).toEqual(['in use']);
  await clock.advance(2 * RETRY_MS);
  expect(log).toEqual(['in use', 'forbidden']);
  await clock.advance(RETRY_MS);
  expect(log).toEqual(['in use', 'forbidden', 'started']);
  await service.close();
  expect(log.at(-1)).toBe('closed');
});

test('a service is not retried once it is closed', async () => {
  const { clock, log, service, remaining } = startFailing(['in use', 'in use']);
  await clock.advance(0);
  await service.close();
  await clock.advance(10 * RETRY_MS);
  expect(log).toEqual(['in use']);
  expect(remaining).toEqual(['in use']);
});
