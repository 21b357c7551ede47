import { expect, test } from '@jest/globals';
import { createMemoryFeed } from '../../../actors/feeds/memory.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import type { Threshold } from '../../../kubernetes/eviction/thresholds.ts';

const HARD: Threshold = { signal: 'memory.available', value: '100', graceMs: 0 };
const SOFT: Threshold = { signal: 'memory.available', value: '200', graceMs: 60_000 };
const OF_PODS: Threshold = { signal: 'allocatableMemory.available', value: '100', graceMs: 0 };
const DISK: Threshold = { signal: 'nodefs.available', value: '100', graceMs: 0 };

/** Runs the feed on a node whose memory is set by the test. */
function feed(thresholds: readonly Threshold[]) {
  const clock = new SimulatedClock();
  const end = new AbortController();
  const memory = { ofNode: 1_000, ofPods: 1_000, isBroken: false };
  const sent: number[] = [];
  const errors: unknown[] = [];
  let reads = 0;
  const readMemory = () => {
    reads += 1;
    if (memory.isBroken) throw new Error('too many open files');
    const observation = (available: number) => ({ available, capacity: 1_000, at: clock.now() });
    return {
      'memory.available': observation(memory.ofNode),
      'allocatableMemory.available': observation(memory.ofPods),
      'nodefs.available': observation(0),
    };
  };
  const onError = (_source: string, error: unknown) => void errors.push(error);
  const start = createMemoryFeed({ resourceMeter: { readMemory }, thresholds, clock, onError });
  const from = clock.now();
  void start((fact) => void ('at' in fact && sent.push(fact.at - from)), { signal: end.signal });
  return { clock, memory, sent, errors, end, reads: () => reads };
}

test('C28: available memory below a threshold is reported within a second, and once', async () => {
  const { clock, memory, sent, end } = feed([HARD, OF_PODS]);
  await clock.advance(3_500);
  memory.ofNode = 99;
  await clock.advance(10_000);
  expect(sent).toEqual([4_000]);
  memory.ofNode = 100;
  await clock.advance(1_000);
  memory.ofNode = 99;
  await clock.advance(1_000);
  expect(sent).toHaveLength(2);
  memory.ofPods = 99;
  await clock.advance(1_000);
  expect(sent).toHaveLength(3);
  end.abort();
});

test('C28: each newly crossed threshold is reported', async () => {
  const { clock, memory, sent, end } = feed([HARD, SOFT]);
  memory.ofNode = 150;
  await clock.advance(1_000);
  memory.ofNode = 50;
  await clock.advance(1_000);
  memory.ofNode = 150;
  await clock.advance(1_000);
  expect(sent).toEqual([1_000, 2_000]);
  end.abort();
});

test('memory is not measured without a memory threshold', async () => {
  const { clock, sent, reads } = feed([DISK]);
  await clock.advance(5_000);
  expect([sent, reads()]).toEqual([[], 0]);
});

test('memory is measured again after a failure', async () => {
  const { clock, memory, sent, errors, end } = feed([HARD]);
  memory.isBroken = true;
  await clock.advance(2_000);
  memory.isBroken = false;
  memory.ofNode = 0;
  await clock.advance(1_000);
  expect(errors).toHaveLength(2);
  expect(sent).toEqual([3_000]);
  end.abort();
  await clock.advance(5_000);
});
