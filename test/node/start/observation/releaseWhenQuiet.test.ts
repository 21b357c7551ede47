import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { releaseWhenQuiet, v8Heap } from '../../../../node/start/observation/releaseWhenQuiet.ts';
import { root } from '../../../support/root.ts';

const MIB = 2 ** 20;

/**
 * Creates a source of changes that allocate memory. Counts the releases, and how often the young generation was allowed
 * to grow.
 */
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
        growYoungSpace: () => {
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

test('memory is released once, three seconds after the last change of a burst', async () => {
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

test('memory is released at most once a minute, however often something changes', async () => {
  const { clock, change, released } = watched();
  for (let second = 0; second < 180; second += 10) {
    change(MIB);
    await clock.advance(10_000);
  }
  expect(released()).toBeGreaterThanOrEqual(2);
  expect(released()).toBeLessThanOrEqual(3);
});

test('memory is released after a large burst even if it was released just before', async () => {
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

test('memory is also released if it has grown a lot without a change', async () => {
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

test('memory is also released if it grows after a change that did not require a release', async () => {
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

test('memory that grows continuously is released twice a minute', async () => {
  const { clock, grow, released } = watched();
  for (let second = 0; second < 120; second += 1) {
    grow(3 * MIB);
    await clock.advance(1_000);
  }
  expect(released()).toBeGreaterThanOrEqual(3);
  expect(released()).toBeLessThanOrEqual(4);
});

test('a failure to read the memory size is tolerated', async () => {
  const rss = jest.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
    throw new Error('EMFILE: too many open files, uv_resident_set_memory');
  });
  const clock = new SimulatedClock();
  let released = 0;
  const release = () => {
    released += 1;
  };
  const end = releaseWhenQuiet(() => () => {}, { clock, heap: { growYoungSpace: () => {}, release } });
  await clock.advance(60_000);
  expect([rss.mock.calls.length > 1, released]).toEqual([true, 0]);
  end();
  rss.mockRestore();
});

test('memory is released despite continuous changes', async () => {
  const { clock, change, released } = watched();
  for (let second = 0; second < 100; second += 1) {
    change(MIB);
    await clock.advance(1_000);
  }
  expect(released()).toBeGreaterThanOrEqual(3);
  expect(released()).toBeLessThanOrEqual(4);
});

test('no memory is released after the end of the watch', async () => {
  const { clock, change, end, released } = watched();
  change();
  end();
  await clock.advance(600_000);
  expect(released()).toBe(0);
  expect(clock.pending).toBe(0);
});

test('the young space grows with each change, even if memory was released too recently to be released again', async () => {
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

describe('the heap of V8', () => {
  /** Creates a heap that records the calls to it. */
  function recordedHeap() {
    const clock = new SimulatedClock();
    const actions: string[] = [];
    const heap = v8Heap(clock, {
      setFlag: (flag) => actions.push(flag),
      startCollection: () => actions.push('startCollection'),
    });
    return { clock, heap, actions };
  }

  test('grows its young space from a change to the next release, but not before compiled code is stored', async () => {
    const { clock, heap, actions } = recordedHeap();
    heap.growYoungSpace();
    heap.release();
    expect(actions.splice(0)).toEqual(['startCollection']);
    await clock.advance(15_001);
    heap.growYoungSpace();
    heap.growYoungSpace();
    expect(actions.splice(0)).toEqual(['--semi-space-growth-factor=2']);
    heap.release();
    expect(actions).toEqual(['--semi-space-growth-factor=1', 'startCollection']);
  });

  test('is collected incrementally, without blocking the event loop', async () => {
    const script = `
      import { v8Heap } from ${JSON.stringify(join(root, 'node/start/observation/releaseWhenQuiet.ts'))};
      import { getHeapStatistics, setFlagsFromString } from 'node:v8';
      import { setTimeout as pause } from 'node:timers/promises';
      const heap = v8Heap({ monotonic: () => 0 });
      setFlagsFromString('--trace-gc');
      let objects = Array.from({ length: 500_000 }, (_, index) => ({ name: [String(index)] }));
      objects = undefined;
      heap.release();
      for (let tries = 0; getHeapStatistics().used_heap_size > 20e6 && tries < 200; tries += 1) await pause(50);
      console.log('MiB', Math.round(getHeapStatistics().used_heap_size / 2 ** 20));
    `;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
    const collection = stdout.split('\n').find((line) => line.includes('finalize incremental marking'));
    expect(collection).toBeDefined();
    expect(Number(/^MiB (\d+)$/m.exec(stdout)?.[1])).toBeLessThan(20);
  });
});
