import { setFlagsFromString } from 'node:v8';
import { expect, jest, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { ownHeap, releaseWhenQuiet } from '../../../node/start/quietRelease.ts';

const MIB = 2 ** 20;

/** A source of changes that take memory, how often that was given back after them, and how often room was made for them. */
function watched() {
  const clock = new SimulatedClock();
  const listeners = new Set<() => void>();
  let [released, taken, made] = [0, 0, 0];
  const end = releaseWhenQuiet(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    {
      clock,
      memory: () => taken,
      heap: {
        makeRoom: () => {
          made += 1;
        },
        release: () => {
          released += 1;
          taken = 0;
        },
      },
    },
  );
  const change = (bytes = 0) => {
    taken += bytes;
    for (const listener of listeners) listener();
  };
  const grow = (bytes: number) => {
    taken += bytes;
  };
  return { clock, change, grow, end, released: () => released, made: () => made };
}

test('memory is given back once, three seconds after the last change of a burst', async () => {
  const { clock, change, released } = watched();
  change();
  await clock.advance(2_000);
  change();
  await clock.advance(2_900);
  expect(released()).toBe(0);
  await clock.advance(200);
  expect(released()).toBe(1);
  await clock.advance(600_000);
  expect(released()).toBe(1);
});

test('it is given back at most once a minute, however often something changes', async () => {
  const { clock, change, released } = watched();
  for (let second = 0; second < 180; second += 10) {
    change(MIB);
    await clock.advance(10_000);
  }
  expect(released()).toBeGreaterThanOrEqual(2);
  expect(released()).toBeLessThanOrEqual(3);
});

test('after a burst that took much it is given back at once when that is over, be it that it just was', async () => {
  const { clock, change, released } = watched();
  change();
  await clock.advance(5_000);
  expect(released()).toBe(1);
  change(100 * MIB);
  await clock.advance(2_900);
  expect(released()).toBe(1);
  await clock.advance(200);
  expect(released()).toBe(2);
});

test('it is given back also where it has grown much and nothing has changed', async () => {
  const { clock, grow, end, released } = watched();
  grow(15 * MIB);
  await clock.advance(60_000);
  expect(released()).toBe(0);
  grow(MIB);
  await clock.advance(14_000);
  expect(released()).toBe(1);
  await clock.advance(600_000);
  expect(released()).toBe(1);
  grow(100 * MIB);
  end();
  await clock.advance(60_000);
  expect(released()).toBe(1);
});

test('it is given back also where it grows after a change that it need not be given back for', async () => {
  const { clock, change, grow, released } = watched();
  change();
  await clock.advance(5_000);
  expect(released()).toBe(1);
  change();
  await clock.advance(5_000);
  grow(200 * MIB);
  await clock.advance(14_000);
  expect(released()).toBe(2);
});

test('where it grows all the time it is given back twice a minute', async () => {
  const { clock, grow, released } = watched();
  for (let second = 0; second < 120; second += 1) {
    grow(3 * MIB);
    await clock.advance(1_000);
  }
  expect(released()).toBeGreaterThanOrEqual(3);
  expect(released()).toBeLessThanOrEqual(4);
});

test('where it cannot be read how much there is, nothing ends', async () => {
  const rss = jest.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
    throw new Error('EMFILE: too many open files, uv_resident_set_memory');
  });
  const clock = new SimulatedClock();
  let released = 0;
  const release = () => {
    released += 1;
  };
  const end = releaseWhenQuiet(() => () => {}, { clock, heap: { makeRoom: () => {}, release } });
  await clock.advance(60_000);
  expect([rss.mock.calls.length > 1, released]).toEqual([true, 0]);
  end();
  rss.mockRestore();
});

test('where something always changes it is given back all the same', async () => {
  const { clock, change, released } = watched();
  for (let second = 0; second < 100; second += 1) {
    change(MIB);
    await clock.advance(1_000);
  }
  expect(released()).toBeGreaterThanOrEqual(3);
  expect(released()).toBeLessThanOrEqual(4);
});

test('after its end nothing is given back any more', async () => {
  const { clock, change, end, released } = watched();
  change();
  end();
  await clock.advance(600_000);
  expect(released()).toBe(0);
  expect(clock.pending).toBe(0);
});

test('room is made with each change, also while memory was given back too lately for that to be done again', async () => {
  const { clock, change, made, released } = watched();
  expect(made()).toBe(0);
  change();
  await clock.advance(5_000);
  expect([made(), released()]).toEqual([1, 1]);
  change();
  await clock.advance(10_000);
  change();
  expect([made(), released()]).toEqual([3, 1]);
});

test('V8 may grow its room from the first change on until memory is given back, once its compiled code was kept', async () => {
  const clock = new SimulatedClock();
  const flags: string[] = [];
  const heap = ownHeap(clock, (flag) => {
    // The room of the process that the tests share is not theirs to limit.
    if (flag === '--expose-gc') setFlagsFromString(flag);
    flags.push(flag);
  });
  heap.makeRoom();
  heap.release();
  expect(flags.splice(0)).toEqual(['--expose-gc']);
  await clock.advance(15_001);
  heap.makeRoom();
  heap.makeRoom();
  expect(flags.splice(0)).toEqual(['--semi-space-growth-factor=2']);
  heap.release();
  expect(flags).toEqual(['--semi-space-growth-factor=1']);
});
