import { describe, expect, test } from '@jest/globals';
import type { DiskLayout } from '../../../kubernetes/eviction/layout.ts';
import {
  compileThresholds,
  isHard,
  type Threshold,
  type ThresholdSettings,
  thresholdAmount,
  thresholdText,
  withContainerFsThresholds,
} from '../../../kubernetes/eviction/thresholds.ts';

/** Formats a threshold as `signal<value`, followed by its grace period and minimum reclaim, if any. */
const written = ({ signal, value, graceMs, minReclaim }: Threshold): string =>
  [
    `${signal}<${value}`,
    ...(graceMs > 0 ? [`for ${graceMs / 1_000}s`] : []),
    ...(minReclaim ? [`+${minReclaim}`] : []),
  ].join(' ');

/** The settings of `TestParseThresholdConfig` in `pkg/kubelet/eviction/helpers_test.go`, with the same results. */
const SETTINGS: readonly (readonly [string, Partial<ThresholdSettings>, readonly string[]])[] = [
  ['without any, there are none', {}, []],
  [
    'of memory, the hard one also holds for all pods',
    {
      enforcesAllocatable: true,
      hard: { 'memory.available': '150Mi' },
      soft: { 'memory.available': '300Mi' },
      softGracePeriod: { 'memory.available': '30s' },
      minimumReclaim: { 'memory.available': '0' },
    },
    ['memory.available<150Mi +0', 'memory.available<300Mi for 30s +0', 'allocatableMemory.available<150Mi +0'],
  ],
  [
    'in percent',
    {
      hard: { 'memory.available': '10%' },
      soft: { 'memory.available': '30%' },
      softGracePeriod: { 'memory.available': '30s' },
      minimumReclaim: { 'memory.available': '5%' },
    },
    ['memory.available<10% +5%', 'memory.available<30% for 30s +5%'],
  ],
  [
    'of disks',
    {
      hard: { 'imagefs.available': '150Mi', 'nodefs.available': '100Mi' },
      soft: { 'imagefs.available': '300Mi', 'nodefs.available': '200Mi' },
      softGracePeriod: { 'imagefs.available': '30s', 'nodefs.available': '30s' },
      minimumReclaim: { 'imagefs.available': '2Gi', 'nodefs.available': '1Gi' },
    },
    [
      'nodefs.available<100Mi +1Gi',
      'imagefs.available<150Mi +2Gi',
      'nodefs.available<200Mi for 30s +1Gi',
      'imagefs.available<300Mi for 30s +2Gi',
    ],
  ],
  [
    'of inodes',
    {
      hard: { 'imagefs.inodesFree': '150Mi', 'nodefs.inodesFree': '10.5%' },
      soft: { 'nodefs.inodesFree': '200Mi' },
      softGracePeriod: { 'nodefs.inodesFree': '1m30s' },
    },
    ['nodefs.inodesFree<10.5%', 'imagefs.inodesFree<150Mi', 'nodefs.inodesFree<200Mi for 90s'],
  ],
  ['of 0 % are off', { hard: { 'memory.available': '0%' }, soft: { 'memory.available': '0%' } }, []],
  ['of 100 % are off', { hard: { 'memory.available': '100%' }, soft: { 'memory.available': '100%' } }, []],
  [
    'that are soft do not hold for all pods',
    {
      enforcesAllocatable: true,
      soft: { 'memory.available': '1Gi' },
      softGracePeriod: { 'memory.available': '10s' },
    },
    ['memory.available<1Gi for 10s'],
  ],
  [
    'of other signals do not hold for all pods',
    { enforcesAllocatable: true, hard: { 'imagefs.available': '150Mi' } },
    ['imagefs.available<150Mi'],
  ],
  [
    'without a grace period are hard',
    {
      enforcesAllocatable: true,
      soft: { 'memory.available': '1Gi' },
      softGracePeriod: { 'memory.available': '0s' },
    },
    ['memory.available<1Gi', 'allocatableMemory.available<1Gi'],
  ],
];

describe('C28: eviction thresholds', () => {
  test.each(SETTINGS)('%s', (_, settings, expected) => {
    expect(compileThresholds({ enforcesAllocatable: false, ...settings }).map(written)).toEqual(expected);
  });

  test('are hard without a grace period', () => {
    const threshold: Threshold = { signal: 'pid.available', value: '10%', graceMs: 0 };
    expect(isHard(threshold)).toBe(true);
    expect(isHard({ ...threshold, graceMs: 1 })).toBe(false);
  });

  test.each<[string, number, number, string]>([
    ['100Mi', 0, 104_857_600, '100Mi'],
    ['2000M', 0, 2_000_000_000, '2G'],
    ['1.5Gi', 0, 1_610_612_736, '1536Mi'],
    // The kubelet computes with single precision.
    ['10%', 10_000_000_000, 1_000_000_014, '1000000014'],
    ['15%', 1_000, 150, '150'],
    ['5%', 655_360, 32_768, '32Ki'],
    ['99.9%', 1_001, 999, '999'],
    ['100.0%', 1_000, 1_000, '1k'],
  ])('with the value %s and a capacity of %s are %s, formatted as %s', (value, capacity, amount, text) => {
    expect(thresholdAmount(value, capacity)).toBe(amount);
    expect(thresholdText(value, capacity)).toBe(text);
  });
});

/** The thresholds of `TestAddContainerFsThresholds`, of which those of containerfs are to be replaced. */
const USER_THRESHOLDS: readonly Threshold[] = [
  { signal: 'containerfs.available', value: '1Ti', graceMs: 0 },
  { signal: 'containerfs.inodesFree', value: '1Ti', graceMs: 1_000 },
  { signal: 'nodefs.available', value: '100Mi', graceMs: 0, minReclaim: '1Gi' },
  { signal: 'nodefs.available', value: '200Mi', graceMs: 1_000, minReclaim: '1Gi' },
  { signal: 'nodefs.inodesFree', value: '200Mi', graceMs: 1_000, minReclaim: '2Gi' },
  { signal: 'nodefs.inodesFree', value: '100Mi', graceMs: 0, minReclaim: '1Gi' },
  { signal: 'imagefs.available', value: '150Mi', graceMs: 0, minReclaim: '1.5Gi' },
  { signal: 'imagefs.available', value: '300Mi', graceMs: 1_000, minReclaim: '3Gi' },
  { signal: 'imagefs.inodesFree', value: '300Mi', graceMs: 0, minReclaim: '2Gi' },
  { signal: 'imagefs.inodesFree', value: '150Mi', graceMs: 1_000, minReclaim: '2Gi' },
];

const OF_NODEFS = [
  'containerfs.available<100Mi +1Gi',
  'containerfs.available<200Mi for 1s +1Gi',
  'containerfs.inodesFree<200Mi for 1s +2Gi',
  'containerfs.inodesFree<100Mi +1Gi',
];
const OF_IMAGEFS = [
  'containerfs.available<150Mi +1.5Gi',
  'containerfs.available<300Mi for 1s +3Gi',
  'containerfs.inodesFree<300Mi +2Gi',
  'containerfs.inodesFree<150Mi for 1s +2Gi',
];

describe('C28: the thresholds of containerfs', () => {
  test.each<[DiskLayout, string, readonly string[]]>([
    ['single', 'nodefs', OF_NODEFS],
    ['separateImages', 'imagefs', OF_IMAGEFS],
    ['split', 'nodefs', OF_NODEFS],
  ])('with the layout %s are those of %s, regardless of the configuration', (layout, _, expected) => {
    const thresholds = withContainerFsThresholds(USER_THRESHOLDS, layout).map(written);
    expect(thresholds.filter((text) => text.startsWith('containerfs'))).toEqual(expected);
    expect(thresholds.filter((text) => !text.startsWith('containerfs'))).toEqual(USER_THRESHOLDS.slice(2).map(written));
  });

  test('are missing if the other file system has none', () => {
    expect(withContainerFsThresholds(USER_THRESHOLDS.slice(0, 2), 'single')).toEqual([]);
  });
});
