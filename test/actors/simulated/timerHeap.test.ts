import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { TimerHeap } from '../../../actors/simulated/timerHeap.ts';
import { seededRandom } from '../../../cri/simulated/objects/ids.ts';

test('timers come out by due time and, at equal times, in insertion order, and cleared ones never do', () => {
  const random = seededRandom(7);
  const timers = new TimerHeap();
  const wanted: { readonly due: number; readonly at: number }[] = [];
  const came: { readonly due: number; readonly at: number }[] = [];
  for (let at = 0; at < 2_000; at += 1) {
    const each = { due: Math.floor(random() * 50), at };
    const id = timers.set({ due: each.due, fn: () => void came.push(each) });
    if (random() < 0.3) timers.clear(id);
    else wanted.push(each);
  }
  expect(timers.size).toBe(wanted.length);
  while (timers.nextDue !== undefined) timers.next()?.fn();
  expect(came).toEqual(wanted.toSorted((a, b) => a.due - b.due || a.at - b.at));
  expect(timers.size).toBe(0);
});

test('most callbacks of cleared timers are released long before they would have been due', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const timers = new TimerHeap();
  const deeds = Array.from({ length: 1_000 }, (_, at) => {
    const deed = { at };
    const id = timers.set({ due: 1_000_000 + at, fn: () => void deed.at });
    if (at % 100 !== 0) timers.clear(id);
    return new WeakRef(deed);
  });
  await setImmediate();
  collectGarbage();
  expect(deeds.filter((each) => each.deref() !== undefined).length).toBeLessThan(100);
  expect(timers.size).toBe(10);
});
