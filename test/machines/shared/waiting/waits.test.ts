import { describe, expect, test } from '@jest/globals';
import * as waits from '../../../../machines/shared/waiting/waits.ts';

const wait = { description: 'The call has failed.', waitsFor: 'another attempt to call' };
const context = { retryAt: 5_000, delayMs: 70 };

describe('a timer', () => {
  test('gets a delay in milliseconds, or computes it from the context', () => {
    expect(waits.after(30).src).toBe('timer');
    expect(waits.after(30).input({ context })).toEqual({ after: 30 });
    expect(waits.after(({ delayMs }: typeof context) => delayMs).input({ context })).toEqual({ after: 70 });
  });

  test('gets any other input from the context', () => {
    const timer = waits.after(({ retryAt }: typeof context) => ({ until: retryAt, within: 10 }));
    expect(timer.input({ context })).toEqual({ until: 5_000, within: 10 });
  });
});

describe('a state that waits for another attempt', () => {
  test('shows its wait and its end', () => {
    expect(waits.retryWaitState(wait)).toMatchObject({
      description: 'The call has failed.',
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to call', until: 'retryAt' },
    });
  });

  test('waits until the attempt is due, at most for its maximum time', () => {
    expect(waits.retryWaitState(wait).invoke.input({ context })).toEqual({ until: 5_000 });
    expect(waits.retryWaitState({ ...wait, withinMs: 7_000 }).invoke.input({ context })).toEqual({
      until: 5_000,
      within: 7_000,
    });
  });

  test('retries when the time is over, and on the return of the runtime if configured', () => {
    expect(waits.retryState('calling', wait).on).toEqual({ 'timer.elapsed': 'calling' });
    expect(waits.retryStateOnReturn('calling', wait).on).toEqual({
      'timer.elapsed': 'calling',
      'runtime.returned': 'calling',
    });
    expect(waits.retryCallState('calling', wait).on['runtime.returned']).toEqual({
      guard: 'wasRuntimeUnavailable',
      target: 'calling',
    });
  });
});
