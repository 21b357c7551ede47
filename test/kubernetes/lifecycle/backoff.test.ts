import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { crashLoopBackOff, nextBackOff, pullBackOff, volumeBackOff } from '../../../kubernetes/lifecycle/backoff.ts';

function delays(count: number, next: (previous: number) => number): number[] {
  const found: number[] = [];
  for (let round = 0; round < count; round++) found.push(next(found.at(-1) ?? 0));
  return found;
}

describe('C7: crash back-off', () => {
  test('restarts at once, then after 10 s, doubling to 300 s', () => {
    const found: number[] = [];
    for (let round = 0; round < 8; round++) {
      const previousDelayMs = found.at(-1);
      const previous = previousDelayMs === undefined ? {} : { previousDelayMs };
      found.push(crashLoopBackOff({ ...previous, startedAt: 0, finishedAt: 1000 }));
    }
    expect(found).toEqual([0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  });

  test('starts over after a run of more than 600 s, not after one of 600 s', () => {
    expect(crashLoopBackOff({ previousDelayMs: 80_000, startedAt: 1, finishedAt: 600_001 })).toBe(160_000);
    expect(crashLoopBackOff({ previousDelayMs: 80_000, startedAt: 1, finishedAt: 600_002 })).toBe(0);
  });

  test('does not start over after a run that never started', () => {
    expect(crashLoopBackOff({ previousDelayMs: 10_000, finishedAt: 5_000_000 })).toBe(20_000);
    // The runtime reports a start time of 0 for a container that it could not start.
    expect(crashLoopBackOff({ previousDelayMs: 10_000, startedAt: 0, finishedAt: 5_000_000 })).toBe(20_000);
  });

  test('applies a lower maximum from the first delay on', () => {
    expect(crashLoopBackOff({ previousDelayMs: 0, startedAt: 0, finishedAt: 1, maxMs: 3000 })).toBe(3000);
    expect(crashLoopBackOff({ previousDelayMs: 2000, startedAt: 0, finishedAt: 1, baseMs: 1000, maxMs: 3000 })).toBe(
      3000,
    );
  });
});

describe('nextBackOff', () => {
  test('starts image pulls at 10 s and volumes at 0.5 s, up to 5 m and 2 m 2 s', () => {
    expect(delays(7, (previous) => nextBackOff(previous, pullBackOff))).toEqual([
      10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000,
    ]);
    const volume = delays(10, (previous) => nextBackOff(previous, volumeBackOff));
    expect(volume.slice(0, 3)).toEqual([500, 1000, 2000]);
    expect(volume.slice(-2)).toEqual([122_000, 122_000]);
  });

  test('never decreases, and stays between base and maximum', () => {
    const limits = fc.record({ baseMs: fc.integer({ min: 1, max: 1e4 }), maxMs: fc.integer({ min: 1e4, max: 1e6 }) });
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 40 }), (backOff, rounds) => {
        const found = delays(rounds, (previous) => nextBackOff(previous, backOff));
        expect(found).toEqual(found.toSorted((a, b) => a - b));
        expect(found[0]).toBe(backOff.baseMs);
        expect(Math.max(...found)).toBeLessThanOrEqual(backOff.maxMs);
      }),
    );
  });
});
