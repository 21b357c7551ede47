/** Delays that exceed the longest timer of Node.js. The system clock must support them. */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createActor } from 'xstate';
import { createAlarm } from '../../../actors/alarm.ts';
import { createBoundary, type NodeEnvironment } from '../../../actors/boundary.ts';
import {
  type ContainerServiceDependencies,
  containerServices,
} from '../../../actors/services/containers/containers.ts';
import { withTimeout } from '../../../actors/services/withTimeout.ts';
import { startInterval, steadyClock, systemClock } from '../../../base/time/clock.ts';
import { ContainerState } from '../../../cri/generated/runtime.ts';
import { IMAGE, noAbort, runOne, simulate } from '../../cri/simulated/support.ts';
import { aPod } from '../../kubernetes/fixtures.ts';

const DAY_MS = 86_400_000;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Returns the number of days after which `callback` is called, up to a maximum. */
async function daysUntil(begin: (done: () => void) => void, most = 200): Promise<number> {
  let isDone = false;
  begin(() => {
    isDone = true;
  });
  for (let day = 0; day <= most; day++) {
    if (isDone) return day;
    await jest.advanceTimersByTimeAsync(DAY_MS);
  }
  return Number.POSITIVE_INFINITY;
}

test.each([1, 24, 25, 30, 50, 68])('a timer of %d days fires on time', async (days) => {
  expect(await daysUntil((done) => void systemClock.setTimeout(done, days * DAY_MS))).toBe(days);
});

test('never fires a cleared timer, in any of its steps', async () => {
  for (const after of [0, 40]) {
    const id = systemClock.setTimeout(() => expect(after).toBe('never'), 60 * DAY_MS);
    await jest.advanceTimersByTimeAsync(after * DAY_MS);
    systemClock.clearTimeout(id);
    expect(jest.getTimerCount()).toBe(0);
  }
});

test('never fires a timer with an infinite delay', async () => {
  expect(await daysUntil((done) => void systemClock.setTimeout(done, Number.POSITIVE_INFINITY))).toBe(
    Number.POSITIVE_INFINITY,
  );
});

test('C10: kills a container only after its full grace period of 30 days', async () => {
  const simulation = simulate({ clock: systemClock, behaviours: { [IMAGE]: { ignoresSigterm: true } } });
  const { container } = await runOne(simulation);
  // `stopContainer` needs only the first two parts.
  const parts = { cri: simulation.cri, clock: systemClock, layout: {} } as unknown as ContainerServiceDependencies;
  const { stopContainer } = containerServices(parts);
  const known = { pod: aPod(), container: 'main', attempt: 0, id: container };
  const asked = { ...known, graceSeconds: (30 * DAY_MS) / 1_000, deadline: Date.now() + 30 * DAY_MS };
  const stopped = stopContainer(asked, { signal: noAbort });
  expect(await daysUntil((done) => void stopped.then(done))).toBe(30);
  const { status } = await simulation.cri.containerStatus(
    { containerId: container, verbose: false },
    { signal: noAbort },
  );
  expect(status).toMatchObject({ state: ContainerState.CONTAINER_EXITED, exitCode: 137 });
});

test('supports long delays for cycles, time limits, alarms and timers of machines', async () => {
  const cycle = (done: () => void) => {
    // Calls once, because a timer that fires immediately would never let the days pass.
    const stop = startInterval(systemClock, 30 * DAY_MS, () => {
      stop();
      done();
    });
  };
  expect(await daysUntil(cycle)).toBe(30);
  const limited = (done: () => void) => {
    const act = (signal: AbortSignal) =>
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    const options = { clock: systemClock, timeoutMs: 40 * DAY_MS, signal: new AbortController().signal };
    void withTimeout(act, options).then(done);
  };
  expect(await daysUntil(limited)).toBe(40);
  const alarm = (done: () => void) =>
    void createAlarm(systemClock)
      .waitUntil(Date.now() + 35 * DAY_MS)
      .then(done);
  expect(await daysUntil(alarm)).toBe(35);
  const timed = (done: () => void) => {
    const { timer } = createBoundary(
      // A timer uses neither ports nor feeds.
      { ports: {}, feeds: {} } as unknown as NodeEnvironment,
      { clock: systemClock, onError: () => {}, onInput: ({ kind }) => kind === 'elapsed' && done() },
    );
    createActor(timer, { input: { after: 45 * DAY_MS } }).start();
  };
  expect(await daysUntil(timed)).toBe(45);
});

test('advances a steady clock from the time of day at its creation, whatever the clock is set to', () => {
  let [now, monotonic] = [1_000_000, 50];
  const clock = steadyClock({ ...systemClock, now: () => now, monotonic: () => monotonic });
  const shown = [0, -3_600_000, 7_200_000, -10].map((set) => {
    now += 500 + set;
    monotonic += 500;
    return clock.now();
  });
  expect(shown).toEqual([1_000_500, 1_001_000, 1_001_500, 1_002_000]);
});

test('converts a timestamp to the wall time of a clock that was set, even if it was not read since', () => {
  let [now, monotonic] = [1_000_000, 50];
  const clock = steadyClock({ ...systemClock, now: () => now, monotonic: () => monotonic });
  const at = clock.now() + 20_000;
  expect(clock.toWallTime(at)).toBe(1_020_000);
  now += 14_998 - 10_000;
  monotonic += 15_000;
  expect(clock.now()).toBe(at - 5_000);
  // A short difference between the clocks does not count as a change.
  expect([now + 5_002, clock.toWallTime(at)]).toEqual([1_010_000, 1_009_998]);
  now += 1;
  expect(clock.toWallTime(at)).toBe(1_009_998);
});
