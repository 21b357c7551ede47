import { setTimeout as pause } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import { LONGEST_TIMER_MS } from '../../base/duration.ts';
import { startLimit } from '../../base/limit.ts';

/** Stands for the longest that a timer can count. */
const LONGEST_MS = 20;

test('a limit that no timer can count ends when it says, not before', async () => {
  const began = performance.now();
  const { signal } = startLimit(5 * LONGEST_MS, LONGEST_MS);
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  expect(performance.now() - began).toBeGreaterThanOrEqual(5 * LONGEST_MS - 5);
});

test('one whose call has ended never ends it, in whichever step it is', async () => {
  const { signal, end } = startLimit(3 * LONGEST_MS, LONGEST_MS);
  await pause(1.5 * LONGEST_MS);
  end();
  await pause(5 * LONGEST_MS);
  expect(signal.aborted).toBe(false);
});

test.each([
  ['30 days', 30 * 86_400_000],
  ['a millisecond more than a timer can count', LONGEST_TIMER_MS + 1],
])('a limit of %s is not over at once', async (_long, ms) => {
  const { signal, end } = startLimit(ms);
  await pause(20);
  expect(signal.aborted).toBe(false);
  end();
});

test('a call that has ended leaves no timer', () => {
  jest.useFakeTimers();
  try {
    const { end } = startLimit(60_000);
    expect(jest.getTimerCount()).toBe(1);
    end();
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test('a limit keeps no process alive', () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const { end } = startLimit(60_000);
  expect(timers()).toBe(before);
  end();
});
