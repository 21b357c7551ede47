import { expect, test } from '@jest/globals';
import { ClockJumps } from '../../../base/time/clockJumps.ts';
import { SettableClock } from '../../fakes/settableClock.ts';

const MINUTE = 60_000;

function listening() {
  const clock = new SettableClock();
  const jumps = new ClockJumps(clock);
  const heard: number[] = [];
  return { clock, jumps, heard, stop: jumps.listen((by) => heard.push(by)) };
}

test('reports each jump once, within ten seconds', async () => {
  const { clock, heard } = listening();
  await clock.advance(5 * MINUTE);
  clock.set(2 * MINUTE);
  await clock.advance(9_999);
  expect(heard).toEqual([]);
  await clock.advance(1);
  expect(heard).toEqual([2 * MINUTE]);
  clock.set(-7 * MINUTE);
  await clock.advance(MINUTE);
  expect(heard).toEqual([2 * MINUTE, -7 * MINUTE]);
});

test('reports small changes once their sum is a jump', async () => {
  const { clock, heard } = listening();
  clock.set(40_000);
  await clock.advance(MINUTE);
  clock.set(40_000);
  await clock.advance(MINUTE);
  expect(heard).toEqual([80_000]);
});

test('does not report a jump before the subscription', async () => {
  const { clock, jumps } = listening();
  clock.set(-5 * MINUTE);
  const later: number[] = [];
  jumps.listen((by) => later.push(by));
  await clock.advance(MINUTE);
  expect(later).toEqual([]);
});

test('does not report to stopped listeners, and stops checking without listeners', async () => {
  const { clock, jumps, heard, stop } = listening();
  const others: number[] = [];
  const stopOther = jumps.listen((by) => {
    others.push(by);
    stopLast();
  });
  const stopLast = jumps.listen((by) => others.push(-by));
  stop();
  clock.set(2 * MINUTE);
  await clock.advance(MINUTE);
  expect([heard, others]).toEqual([[], [2 * MINUTE]]);
  stopOther();
  stopOther();
  expect(clock.pending).toBe(0);
});
