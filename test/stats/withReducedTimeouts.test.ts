/** Timeouts of stats collection while the runtime hangs. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { withReducedTimeouts } from '../../stats/withReducedTimeouts.ts';
import { StatsWorld } from './support.ts';

let world: StatsWorld;

beforeEach(async () => {
  world = new StatsWorld();
  await world.node();
  await world.pod('a');
});
afterEach(() => world.close());

const { signal } = new AbortController();

/** Creates a collector whose calls may hang. Returns the milliseconds that a sample takes. */
function collecting() {
  const { simulation } = world;
  const { clock, runtime, cri } = simulation;
  const collector = world.collector({ cri: withReducedTimeouts(cri, clock) });
  return {
    clock,
    took: async (hangs: boolean) => {
      if (hangs)
        for (const call of ['listPodSandbox', 'listContainers'] as const) runtime.faults.add({ call, hang: true });
      const begunAt = clock.monotonic();
      const { pods } = await clock.advanceUntilSettled(collector.sample('everything', signal, 0));
      expect(pods.map(({ name }) => name)).toEqual(['a']);
      return clock.monotonic() - begunAt;
    },
  };
}

test('after a call has timed out, calls time out after one second until one succeeds', async () => {
  const { took } = collecting();
  expect(await took(false)).toBe(0);
  expect(await took(true)).toBe(5_000);
  expect(await took(true)).toBe(1_000);
  expect(await took(true)).toBe(1_000);
  expect(await took(false)).toBe(0);
  expect(await took(true)).toBe(5_000);
});

test('calls have their full timeout again after half a minute, because the runtime may only be slow', async () => {
  const { took, clock } = collecting();
  await took(false);
  expect(await took(true)).toBe(5_000);
  await clock.advance(28_000);
  expect(await took(true)).toBe(1_000);
  await clock.advance(1_000);
  expect(await took(true)).toBe(5_000);
});

test('a call that fails at once does not reduce the timeout', async () => {
  const { took } = collecting();
  await took(false);
  world.simulation.runtime.down();
  expect(await took(false)).toBe(0);
  world.simulation.runtime.restart();
  expect(await took(true)).toBe(5_000);
});
