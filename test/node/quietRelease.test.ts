import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';
import { releaseWhenQuiet } from '../../node/quietRelease.ts';

/** A source of changes, and how often memory was given back after them. */
function watched() {
  const clock = new SimulatedClock();
  const listeners = new Set<() => void>();
  let released = 0;
  const end = releaseWhenQuiet(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    { clock, release: () => released++ },
  );
  const change = () => {
    for (const listener of listeners) listener();
  };
  return { clock, change, end, released: () => released };
}

test('memory is given back once, five seconds after the last change of a burst', async () => {
  const { clock, change, released } = watched();
  change();
  await clock.advance(4_000);
  change();
  await clock.advance(4_900);
  expect(released()).toBe(0);
  await clock.advance(200);
  expect(released()).toBe(1);
  await clock.advance(600_000);
  expect(released()).toBe(1);
});

test('it is given back at most once a minute, however often something changes', async () => {
  const { clock, change, released } = watched();
  for (let second = 0; second < 180; second += 10) {
    change();
    await clock.advance(10_000);
  }
  expect(released()).toBeGreaterThanOrEqual(1);
  expect(released()).toBeLessThanOrEqual(3);
});

test('after its end nothing is given back any more', async () => {
  const { clock, change, end, released } = watched();
  change();
  end();
  await clock.advance(600_000);
  expect(released()).toBe(0);
  expect(clock.pending).toBe(0);
});
