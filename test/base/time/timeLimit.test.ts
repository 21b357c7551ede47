import { setTimeout as pause } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import { MAX_TIMER_MS } from '../../../base/time/duration.ts';
import { startTimeLimit } from '../../../base/time/timeLimit.ts';

/** Stands for the maximum delay of a timer. */
const LONGEST_MS = 20;

test('aborts after a limit that exceeds the longest timer, and not earlier', async () => {
  const began = performance.now();
  const { signal } = startTimeLimit(5 * LONGEST_MS, LONGEST_MS);
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  expect(performance.now() - began).toBeGreaterThanOrEqual(5 * LONGEST_MS - 5);
});

test('never aborts after the call has completed, in any step', async () => {
  const { signal, clear } = startTimeLimit(3 * LONGEST_MS, LONGEST_MS);
  await pause(1.5 * LONGEST_MS);
  clear();
  await pause(5 * LONGEST_MS);
  expect(signal.aborted).toBe(false);
});

test.each([
  ['30 days', 30 * 86_400_000],
  ['a millisecond more than a timer can count', MAX_TIMER_MS + 1],
])('a time limit of %s does not abort immediately', async (_long, ms) => {
  const { signal, clear } = startTimeLimit(ms);
  await pause(20);
  expect(signal.aborted).toBe(false);
  clear();
});

test('leaves no timer after a call has completed', () => {
  jest.useFakeTimers();
  try {
    const { clear } = startTimeLimit(60_000);
    expect(jest.getTimerCount()).toBe(1);
    clear();
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test('a time limit does not prevent the process from exiting', () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const { clear } = startTimeLimit(60_000);
  expect(timers()).toBe(before);
  clear();
});
