import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { runProgram } from '../../../host/program.ts';

test('timers fire in the order of their times and then of their creation, each at its own time', async () => {
  const clock = new SimulatedClock(0);
  const fired: [string, number][] = [];
  const at = (name: string, ms: number) => clock.setTimeout(() => fired.push([name, clock.now()]), ms);
  at('c', 20);
  at('a', 10);
  at('b', 10);
  at('late', 21);
  await clock.advance(20);
  expect(fired).toEqual([
    ['a', 10],
    ['b', 10],
    ['c', 20],
  ]);
  expect(clock.now()).toBe(20);
  expect(clock.pending).toBe(1);
});

test('promise callbacks after a timer, including further timers, run before time advances', async () => {
  const clock = new SimulatedClock(0);
  const seen: number[] = [];
  const tick = (): unknown =>
    clock.setTimeout(async () => {
      for (let i = 0; i < 20; i++) await Promise.resolve();
      seen.push(clock.now());
      if (seen.length < 5) tick();
    }, 3);
  tick();
  await clock.advance(10);
  expect(seen).toEqual([3, 6, 9]);
});

test('a cleared timer does not fire, and unknown IDs are ignored', async () => {
  const clock = new SimulatedClock();
  let fired = false;
  const id = clock.setTimeout(() => {
    fired = true;
  }, 5);
  clock.clearTimeout('another');
  clock.clearTimeout(id);
  await clock.advance(10);
  expect(fired).toBe(false);
});

test('advanceUntilSettled advances time until a promise settles, and rejects if no timer is left to settle it', async () => {
  const clock = new SimulatedClock(0);
  const slow = new Promise<string>((resolve) => void clock.setTimeout(() => resolve('done'), 3_600_000));
  expect(await clock.advanceUntilSettled(slow)).toBe('done');
  expect(clock.now()).toBe(3_600_000);
  await expect(clock.advanceUntilSettled(new Promise(() => {}))).rejects.toThrow('no timers left');
});

test('time stands still while a program is awaited, and advances beside one that merely runs', async () => {
  const clock = new SimulatedClock(0);
  const other = spawn('sleep', ['1000']);
  const { signal } = new AbortController();
  const ended = runProgram('sleep', ['0.2'], { signal, timeoutMs: 10_000 }).then(() => clock.now());
  await clock.advance(5_000);
  expect(await ended).toBe(0);
  expect(clock.now()).toBe(5_000);
  other.kill();
  await once(other, 'exit');
});
