import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';
import { pause } from '../../kubeclient/pause.ts';

test('a pause ends on time and leaves no listener on the signal', async () => {
  const clock = new SimulatedClock();
  const { signal } = new AbortController();
  let isOver = false;
  const paused = pause(1_000, clock, signal).then(() => {
    isOver = true;
  });
  await clock.advance(999);
  expect(isOver).toBe(false);
  await clock.advance(1);
  await paused;
  expect(clock.pending).toBe(0);
});

test('a pause rejects with the signal, even if it was aborted before', async () => {
  const clock = new SimulatedClock();
  const giveUp = new AbortController();
  const paused = pause(1_000, clock, giveUp.signal);
  giveUp.abort(new Error('gone'));
  await expect(paused).rejects.toThrow('gone');
  await expect(pause(1_000, clock, giveUp.signal)).rejects.toThrow('gone');
  expect(clock.pending).toBe(0);
});
