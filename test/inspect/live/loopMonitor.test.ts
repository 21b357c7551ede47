import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { startLoopMonitor } from '../../../inspect/live/loopMonitor.ts';

test('the loop monitor measures the last minute until it is stopped, and notifies of new samples', async () => {
  const clock = new SimulatedClock();
  let samples = 0;
  const monitor = startLoopMonitor(clock, () => {
    samples += 1;
  });
  expect(monitor.now()).toEqual({ p99Ms: 0, recentMs: [] });
  // The monitor measures the time between two of its own timers, so the first one must have fired, however busy the
  // machine is.
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setTimeout(resolve, 20));
  const blockedUntil = Date.now() + 40;
  while (Date.now() < blockedUntil);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await clock.advance(3_000);
  const { p99Ms, recentMs } = monitor.now();
  expect([samples, recentMs]).toEqual([1, [p99Ms]]);
  expect(p99Ms).toBeGreaterThan(10);
  await clock.advance(120_000);
  expect(monitor.now().recentMs).toHaveLength(20);
  // Delays older than a minute are no longer included.
  expect(monitor.now().recentMs).not.toContain(p99Ms);
  monitor.stop();
  expect(clock.pending).toBe(0);
});
