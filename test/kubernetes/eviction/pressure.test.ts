import { describe, expect, test } from '@jest/globals';
import {
  assessPressure,
  inEvictionOrder,
  initialPressure,
  type Observations,
  type PressureResult,
  thresholdsMet,
} from '../../../kubernetes/eviction/pressure.ts';
import { conditionOf, resourceOf, SIGNALS, type Signal } from '../../../kubernetes/eviction/signals.ts';
import type { Threshold } from '../../../kubernetes/eviction/thresholds.ts';

const MI = 2 ** 20;
const MINUTE_MS = 60_000;

const threshold = (signal: Signal, value: string, more: Partial<Threshold> = {}): Threshold => ({
  signal,
  value,
  graceMs: 0,
  ...more,
});

/** Returns an observation of these amounts in MiB, made at time `at`. */
const left = (available: number, at = 1, capacity = 1_000) => ({
  available: available * MI,
  capacity: capacity * MI,
  at,
});

describe('C28: a threshold', () => {
  const hard = threshold('memory.available', '1Gi', { minReclaim: '500Mi' });
  const inPercent = [
    threshold('memory.available', '20%', { minReclaim: '5%' }),
    threshold('nodefs.available', '30%'),
  ] as const;

  /** The cases of `TestThresholdsMet` and `TestPercentageThresholdsMet` in `pkg/kubelet/eviction/helpers_test.go`. */
  test.each<[string, readonly Threshold[], Observations, boolean, readonly Threshold[]]>([
    ['is not met if there is none', [], {}, false, []],
    ['is not met without an observation', [hard], {}, false, []],
    ['is met if less is left', [hard], { 'memory.available': left(500) }, false, [hard]],
    ['is not met if more is left', [hard], { 'memory.available': left(2_048) }, false, []],
    ['is not met if exactly as much is left', [hard], { 'memory.available': left(1_024) }, false, []],
    ['is not met within its minimum reclaim', [hard], { 'memory.available': left(1_075) }, false, []],
    ['is unresolved within its minimum reclaim', [hard], { 'memory.available': left(1_075) }, true, [hard]],
    ['is resolved above its minimum reclaim', [hard], { 'memory.available': left(2_048) }, true, []],
    [
      'in percent is met, and so is another',
      inPercent,
      { 'memory.available': left(100), 'nodefs.available': left(100) },
      false,
      inPercent,
    ],
    [
      'in percent is not met, and neither is another',
      inPercent,
      { 'memory.available': left(300), 'nodefs.available': left(400) },
      false,
      [],
    ],
    [
      'in percent is not met, but another is',
      inPercent,
      { 'memory.available': left(300), 'nodefs.available': left(100) },
      false,
      [inPercent[1]],
    ],
    [
      'in percent is met, but another is not',
      inPercent,
      { 'memory.available': left(100), 'nodefs.available': left(400) },
      false,
      [inPercent[0]],
    ],
    ['in percent is unresolved', inPercent, { 'memory.available': left(225) }, true, [inPercent[0]]],
    ['in percent is resolved', inPercent, { 'memory.available': left(300) }, true, []],
  ])('%s', (_, thresholds, observations, withMinReclaim, expected) => {
    expect(thresholdsMet(thresholds, observations, { withMinReclaim })).toEqual(expected);
  });
});

/** Runs passes, each some minutes after the previous one, with the available memory in MiB. */
function runPasses(
  thresholds: readonly Threshold[],
  passes: readonly (readonly [afterMinutes: number, availableMi: number, isSameSample?: 'sameSample'])[],
): PressureResult[] {
  const results: PressureResult[] = [];
  let now = 0;
  let sampledAt = 0;
  let state = initialPressure;
  for (const [minutes, available, isSame] of passes) {
    now += minutes * MINUTE_MS;
    if (isSame === undefined) sampledAt += 1;
    const observations = { 'memory.available': left(available, sampledAt, 4_096) };
    const result = assessPressure(state, { thresholds, observations, transitionMs: 5 * MINUTE_MS, now });
    results.push(result);
    state = result.state;
  }
  return results;
}

const acting = (results: readonly PressureResult[]) => results.map((each) => each.acting.map(({ value }) => value));
const underPressure = (results: readonly PressureResult[]) => results.map(({ conditions }) => conditions.length > 0);

describe('C28: pressure', () => {
  const hard = threshold('memory.available', '1Gi');
  const soft = threshold('memory.available', '2Gi', { graceMs: 2 * MINUTE_MS });

  // The scenario of `TestMemoryPressure` in `pkg/kubelet/eviction/eviction_manager_test.go`.
  test('is reported at once for a soft threshold, which acts only after its grace period', () => {
    const results = runPasses(
      [hard, soft],
      [
        [0, 2_048],
        [1, 1_500],
        [3, 1_500],
        [20, 3_072],
        [1, 500],
        [1, 2_048],
        [5, 2_048],
      ],
    );
    expect(acting(results)).toEqual([[], [], ['2Gi'], [], ['1Gi'], [], []]);
    expect(underPressure(results)).toEqual([false, true, true, false, true, true, false]);
  });

  // The scenario of `TestMinReclaim` in the same file.
  test('continues until more than the minimum reclaim is left', () => {
    const results = runPasses(
      [{ ...hard, minReclaim: '500Mi' }],
      [
        [0, 2_048],
        [1, 500],
        [1, 1_229],
        [1, 2_048],
        [5, 2_048],
      ],
    );
    expect(acting(results)).toEqual([[], ['1Gi'], ['1Gi'], [], []]);
    expect(underPressure(results)).toEqual([false, true, true, true, false]);
  });

  test('does not continue within the minimum reclaim of a threshold that has not acted', () => {
    const results = runPasses(
      [{ ...soft, minReclaim: '500Mi' }],
      [
        [0, 2_000],
        [1, 2_100],
        [3, 2_100],
      ],
    );
    expect(acting(results)).toEqual([[], [], []]);
  });

  test('of a soft threshold starts over after a gap', () => {
    const results = runPasses(
      [soft],
      [
        [0, 1_500],
        [1, 3_000],
        [1, 1_500],
        [1, 1_500],
        [1, 1_500],
      ],
    );
    expect(acting(results)).toEqual([[], [], [], [], ['2Gi']]);
  });

  test('does not act twice on the same figures', () => {
    const results = runPasses(
      [hard],
      [
        [0, 500],
        [0.2, 500, 'sameSample'],
        [0.2, 500],
      ],
    );
    expect(acting(results)).toEqual([['1Gi'], [], ['1Gi']]);
    expect(underPressure(results)).toEqual([true, true, true]);
  });

  test('does not act on figures that are older than those of the last pass', () => {
    const observed = (at: number) => ({ 'memory.available': left(500, at) });
    const input = { thresholds: [hard], transitionMs: MINUTE_MS, now: 0 };
    const { state } = assessPressure(initialPressure, { ...input, observations: observed(60) });
    expect(assessPressure(state, { ...input, observations: observed(0) }).acting).toEqual([]);
  });

  test('remains for the transition period after a threshold was last met', () => {
    const [first, second, third] = runPasses(
      [hard],
      [
        [0, 500],
        [4.9, 2_048],
        [0.1, 2_048],
      ],
    );
    expect([first, second, third].map((each) => each?.conditions)).toEqual([
      ['MemoryPressure'],
      ['MemoryPressure'],
      [],
    ]);
  });

  test('is reported in a fixed order, whatever the order of the thresholds', () => {
    const thresholds = (['pid.available', 'nodefs.inodesFree', 'memory.available'] as const).map((signal) =>
      threshold(signal, '100'),
    );
    const observations = Object.fromEntries(thresholds.map(({ signal }) => [signal, left(0)]));
    const result = assessPressure(initialPressure, { thresholds, observations, transitionMs: MINUTE_MS, now: 0 });
    expect(result.conditions).toEqual(['MemoryPressure', 'DiskPressure', 'PIDPressure']);
  });
});

/** `TestGetReclaimableThreshold` and `TestSortByEvictionPriority` in `helpers_test.go`. */
test.each<[string, readonly Signal[], readonly Signal[]]>([
  ['nothing', [], []],
  [
    'memory before everything else',
    ['nodefs.available', 'pid.available', 'memory.available'],
    ['memory.available', 'nodefs.available', 'pid.available'],
  ],
  [
    'the memory of all pods before everything else',
    ['nodefs.available', 'pid.available', 'allocatableMemory.available'],
    ['allocatableMemory.available', 'nodefs.available', 'pid.available'],
  ],
  [
    'the memory of the node before that of all pods',
    ['allocatableMemory.available', 'memory.available', 'imagefs.available', 'nodefs.available'],
    ['memory.available', 'allocatableMemory.available', 'imagefs.available', 'nodefs.available'],
  ],
])('C28: a node handles %s', (_, signals, expected) => {
  const thresholds = signals.map((signal) => threshold(signal, '100Mi'));
  expect(inEvictionOrder(thresholds).map(({ signal }) => signal)).toEqual(expected);
});

test('C28: each signal has the condition and the resource of a kubelet', () => {
  expect(SIGNALS.map((signal) => `${signal} ${conditionOf(signal)} ${resourceOf(signal)}`)).toEqual([
    'memory.available MemoryPressure memory',
    'allocatableMemory.available MemoryPressure memory',
    'nodefs.available DiskPressure ephemeral-storage',
    'nodefs.inodesFree DiskPressure inodes',
    'imagefs.available DiskPressure ephemeral-storage',
    'imagefs.inodesFree DiskPressure inodes',
    'containerfs.available DiskPressure ephemeral-storage',
    'containerfs.inodesFree DiskPressure inodes',
    'pid.available PIDPressure pids',
  ]);
});
