import { describe, expect, test } from '@jest/globals';
import {
  type EvictionFigures,
  nextVictim,
  predictEvictions,
  timeUntilBelow,
} from '../../../kubernetes/eviction/outlook.ts';
import { aPod } from '../fixtures.ts';

const MI = 2 ** 20;
const MINUTE = 60_000;

const podOf = (name: string, priority = 0) => aPod({ priority }, { name, uid: name });
const pods = [podOf('small'), podOf('large'), podOf('critical', 2_000_000_000)];

const figures: EvictionFigures = {
  thresholds: [{ signal: 'memory.available', value: '100Mi', graceMs: 0, minReclaim: '20Mi' }],
  layout: 'single',
  observations: { 'memory.available': { available: 500 * MI, capacity: 1_000 * MI, at: 0 } },
  usages: Object.fromEntries(
    [['small', 10] as const, ['large', 60] as const, ['critical', 400] as const].map(([name, mebibytes]) => [
      name,
      { memoryBytes: mebibytes * MI, containers: [], volumes: [] },
    ]),
  ),
};

const LARGE = { pod: 'large', reason: 'it uses 60Mi of memory, 60Mi more than it requests, and has priority 0' };
const SMALL = { pod: 'small', reason: 'it uses 10Mi of memory, 10Mi more than it requests, and has priority 0' };

const predict = (mebibytes: number) =>
  predictEvictions(pods, figures, { signal: 'memory.available', available: mebibytes * MI });

describe('a prediction of evictions', () => {
  test('names the pod that would be the first, which is never a critical one', () => {
    expect(nextVictim(pods, figures, 'memory.available')).toEqual(LARGE);
    expect(nextVictim(pods.slice(2), figures, 'memory.available')).toBeUndefined();
  });

  test('names no pod if no threshold would be met', () => {
    expect(predict(100)).toEqual({ threshold: undefined, victims: [], isSufficient: true });
  });

  test('names the pods that would be evicted until the minimum reclaim is available', () => {
    expect(predict(60)).toEqual({ threshold: figures.thresholds[0], victims: [LARGE], isSufficient: true });
    expect(predict(59)).toMatchObject({ victims: [LARGE, SMALL], isSufficient: true });
  });

  test('states if the evictions would not suffice', () => {
    expect(predict(10)).toMatchObject({ victims: [LARGE, SMALL], isSufficient: false });
  });
});

describe('the time until a threshold is met', () => {
  const at = (available: number, minutes: number) => ({ available, capacity: 1_000, at: minutes * MINUTE });

  test.each<[string, ReturnType<typeof at>, ReturnType<typeof at> | undefined, number | undefined]>([
    ['is proportional to the rate since an earlier observation', at(400, 2), at(500, 0), 6 * MINUTE],
    ['is unknown without an earlier observation', at(400, 2), undefined, undefined],
    ['is unknown after less than a minute', at(400, 0.9), at(500, 0), undefined],
    ['is unlimited if more is left than before', at(500, 2), at(400, 0), undefined],
    ['is unlimited if as much is left as before', at(500, 2), at(500, 0), undefined],
    ['is over if the threshold is met', at(99, 2), at(500, 0), 0],
  ])('%s', (_, now, earlier, expected) => {
    expect(timeUntilBelow(100, now, earlier)).toBe(expected);
  });
});
