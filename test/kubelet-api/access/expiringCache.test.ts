import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { ExpiringCache } from '../../../kubelet-api/access/expiringCache.ts';

test('a cached value expires after its time, even if it is undefined', async () => {
  const clock = new SimulatedClock();
  const cache = new ExpiringCache<string | undefined>(clock, 10);
  cache.set('a', undefined, 1000);
  cache.set('never', 'kept', 0);
  await clock.advance(999);
  expect(cache.get('a')).toMatchObject({ value: undefined });
  expect(cache.get('never')).toBeUndefined();
  await clock.advance(1);
  expect(cache.get('a')).toBeUndefined();
  expect(cache.size).toBe(0);
});

test('a full cache evicts the least recently used value', () => {
  const cache = new ExpiringCache<number>(new SimulatedClock(), 2);
  cache.set('a', 1, 1000);
  cache.set('b', 2, 1000);
  cache.get('a');
  cache.set('c', 3, 1000);
  expect([cache.get('a')?.value, cache.get('b')?.value, cache.get('c')?.value]).toEqual([1, undefined, 3]);
  for (let each = 0; each < 1000; each += 1) cache.set(`flood-${each}`, each, 1000);
  expect(cache.size).toBe(2);
});
