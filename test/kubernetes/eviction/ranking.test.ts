import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { DiskLayout } from '../../../kubernetes/eviction/layout.ts';
import { rankingReason, rankPods, selectVictim } from '../../../kubernetes/eviction/ranking.ts';
import type { Signal } from '../../../kubernetes/eviction/signals.ts';
import type { PodUsage, PodUsages } from '../../../kubernetes/eviction/usage.ts';
import { aContainer, aPod } from '../fixtures.ts';

const MI = 2 ** 20;
const LOW = -1;
const DEFAULT = 0;
const HIGH = 1;

/** A pod in a table: its name, priority and request, and the usage that a signal measures. */
type Row = readonly [name: string, priority: number, request: string, ...figures: readonly number[]];

const podOf = ([name, priority, request]: Row, resource: 'memory' | 'ephemeral-storage'): Pod => {
  const resources = request === '' ? {} : { resources: { requests: { [resource]: request } } };
  const volumes = [{ name: 'scratch', emptyDir: {} }];
  return aPod({ priority, containers: [aContainer(resources)], volumes }, { name, uid: name });
};

const usagesOf = (rows: readonly Row[], usage: (figures: readonly number[]) => PodUsage): PodUsages =>
  Object.fromEntries(rows.map(([name, , , ...figures]) => [name, usage(figures)]));

const memoryUsage = ([mebibytes = 0]: readonly number[]): PodUsage => ({
  memoryBytes: mebibytes * MI,
  containers: [],
  volumes: [],
});

/** Usage of the writable layer, the logs and the volume, in MiB or in inodes. */
const diskUsage =
  (unit: 'bytes' | 'inodes') =>
  ([rootfs = 0, logs = 0, volume = 0]: readonly number[]): PodUsage => {
    const used = (amount: number) => (unit === 'bytes' ? { bytes: amount * MI } : { inodes: amount });
    return {
      containers: [{ name: 'main', rootfs: used(rootfs), logs: used(logs) }],
      volumes: [{ name: 'scratch', ...used(volume) }],
    };
  };

const processUsage = ([processes = 0]: readonly number[]): PodUsage => ({ processes, containers: [], volumes: [] });

const rankedNames = (pods: readonly Pod[], usages: PodUsages, signal: Signal, layout: DiskLayout = 'single') =>
  rankPods({ pods, usages, signal, layout }).map(({ pod }) => pod.metadata.name);

/**
 * The vectors of the `TestOrderedBy…` tests in `pkg/kubelet/eviction/helpers_test.go`. Each table lists the pods in the
 * order in which they are evicted.
 */
const TABLES: readonly (readonly [
  string,
  Signal,
  'memory' | 'ephemeral-storage',
  (figures: readonly number[]) => PodUsage,
  readonly Row[],
])[] = [
  [
    'memory: pods that exceed their requests first, whatever their priority',
    'memory.available',
    'memory',
    memoryUsage,
    [
      ['exceeds-requests', 1, '100Mi', 101],
      ['below-requests', -1, '200Mi', 199],
    ],
  ],
  [
    'memory: then by the usage above the request',
    'memory.available',
    'memory',
    memoryUsage,
    [
      ['burstable-high', DEFAULT, '100Mi', 800],
      ['best-effort-high', DEFAULT, '', 500],
      ['best-effort-low', DEFAULT, '', 300],
      ['burstable-low', DEFAULT, '100Mi', 300],
      ['guaranteed-high', DEFAULT, '1Gi', 800],
      ['guaranteed-low', DEFAULT, '1Gi', 200],
    ],
  ],
  [
    'memory: lower priorities before larger usage',
    'allocatableMemory.available',
    'memory',
    memoryUsage,
    [
      ['above-requests-low-priority-high-usage', LOW, '', 500],
      ['above-requests-low-priority-low-usage', LOW, '', 50],
      ['above-requests-high-priority-high-usage', HIGH, '100Mi', 600],
      ['above-requests-high-priority-low-usage', HIGH, '100Mi', 150],
      ['below-requests-low-priority-high-usage', LOW, '1Gi', 800],
      ['below-requests-low-priority-low-usage', LOW, '1Gi', 200],
      ['below-requests-high-priority-high-usage', HIGH, '1Gi', 800],
      ['below-requests-high-priority-low-usage', HIGH, '1Gi', 200],
    ],
  ],
  [
    'disk: pods that exceed their requests first, whatever their priority',
    'nodefs.available',
    'ephemeral-storage',
    diskUsage('bytes'),
    [
      ['exceeds-requests', 1, '100Mi', 90, 11, 0],
      ['below-requests', -1, '200Mi', 100, 99, 0],
    ],
  ],
  [
    'disk: then by the usage above the request',
    'nodefs.available',
    'ephemeral-storage',
    diskUsage('bytes'),
    [
      ['best-effort-high', DEFAULT, '', 50, 100, 150],
      ['burstable-high', DEFAULT, '100Mi', 150, 150, 50],
      ['best-effort-low', DEFAULT, '', 25, 25, 50],
      ['burstable-low', DEFAULT, '100Mi', 25, 35, 50],
      ['guaranteed-high', DEFAULT, '400Mi', 225, 100, 50],
      ['guaranteed-low', DEFAULT, '400Mi', 25, 45, 50],
    ],
  ],
  [
    'disk: lower priorities before larger usage',
    'nodefs.available',
    'ephemeral-storage',
    diskUsage('bytes'),
    [
      ['above-requests-low-priority-high-usage', LOW, '', 200, 100, 200],
      ['above-requests-low-priority-low-usage', LOW, '', 10, 10, 30],
      ['above-requests-high-priority-high-usage', HIGH, '100Mi', 200, 150, 250],
      ['above-requests-high-priority-low-usage', HIGH, '100Mi', 90, 50, 10],
      ['below-requests-low-priority-high-usage', LOW, '1Gi', 500, 200, 100],
      ['below-requests-low-priority-low-usage', LOW, '1Gi', 50, 100, 50],
      ['below-requests-high-priority-high-usage', HIGH, '1Gi', 250, 500, 50],
      ['below-requests-high-priority-low-usage', HIGH, '1Gi', 100, 60, 40],
    ],
  ],
  [
    'inodes: by the number of inodes',
    'nodefs.inodesFree',
    'ephemeral-storage',
    diskUsage('inodes'),
    [
      ['high', DEFAULT, '', 200_000, 150_000, 50_000],
      ['medium', DEFAULT, '', 100_000, 150_000, 50_000],
      ['low', DEFAULT, '', 50_000, 100_000, 50_000],
    ],
  ],
  [
    'inodes: lower priorities before larger usage',
    'nodefs.inodesFree',
    'ephemeral-storage',
    diskUsage('inodes'),
    [
      ['low-priority-high-usage', LOW, '', 50_000, 100_000, 250_000],
      ['low-priority-low-usage', LOW, '', 60_000, 30_000, 10_000],
      ['high-priority-high-usage', HIGH, '', 150_000, 150_000, 50_000],
      ['high-priority-low-usage', HIGH, '', 10_000, 40_000, 100_000],
    ],
  ],
  [
    'inodes: a request of ephemeral storage is subtracted from the number of inodes',
    'nodefs.inodesFree',
    'ephemeral-storage',
    diskUsage('inodes'),
    [
      ['without-request', DEFAULT, '', 100, 0, 0],
      ['with-request', DEFAULT, '1Gi', 90_000, 0, 0],
    ],
  ],
  [
    'processes: by priority and then by their number',
    'pid.available',
    'memory',
    processUsage,
    [
      ['low-priority-high-usage', LOW, '', 20],
      ['low-priority-low-usage', LOW, '', 6],
      ['high-priority-high-usage', HIGH, '', 20],
      ['high-priority-low-usage', HIGH, '', 5],
    ],
  ],
];

describe('C28: pods are ranked for', () => {
  test.each(TABLES)('%s', (_, signal, resource, usage, rows) => {
    const pods = rows.map((row) => podOf(row, resource));
    const expected = rows.map(([name]) => name);
    expect(rankedNames(pods, usagesOf(rows, usage), signal)).toEqual(expected);
    expect(rankedNames(pods.toReversed(), usagesOf(rows, usage), signal)).toEqual(expected);
  });

  test.each<[Signal, readonly string[]]>([
    ['memory.available', ['unknown', 'small', 'large']],
    ['nodefs.available', ['unknown', 'small', 'large']],
    // This signal compares priorities before usage.
    ['pid.available', ['small', 'unknown', 'large']],
  ])('%s with pods of unknown usage before others of the same rank', (signal, expected) => {
    const rows: readonly Row[] = [
      ['large', HIGH, '1Gi', 500, 0, 0],
      ['small', LOW, '1Gi', 1, 0, 0],
    ];
    const usages = usagesOf(rows, (figures) => ({ ...diskUsage('bytes')(figures), ...memoryUsage(figures) }));
    const pods = [...rows, ['unknown', HIGH, '1Gi'] as const].map((row) => podOf(row, 'memory'));
    expect(rankedNames(pods, usages, signal)).toEqual(expected);
  });

  test.each<[Signal, DiskLayout, string]>([
    ['nodefs.available', 'single', 'layer'],
    ['nodefs.available', 'separateImages', 'logs'],
    ['imagefs.available', 'separateImages', 'layer'],
    ['containerfs.available', 'separateImages', 'layer'],
    ['nodefs.available', 'split', 'layer'],
    ['containerfs.available', 'split', 'layer'],
  ])('%s with the layout %s, starting with the pod that uses the most %s', (signal, layout, first) => {
    const rows: readonly Row[] = [
      ['logs', DEFAULT, '', 0, 200, 0],
      ['layer', DEFAULT, '', 300, 0, 0],
      ['volume', DEFAULT, '', 0, 0, 100],
    ];
    const pods = rows.map((row) => podOf(row, 'ephemeral-storage'));
    expect(rankedNames(pods, usagesOf(rows, diskUsage('bytes')), signal, layout)[0]).toBe(first);
  });

  test('memory by the pod-level request instead of the requests of the containers', () => {
    const rows: readonly Row[] = [
      ['exceeds-pod', HIGH, '1Gi', 600],
      ['within-pod', LOW, '100Mi', 700],
    ];
    const requestsOfPods = [{ memory: '500Mi' }, { memory: '1Gi' }];
    const pods = rows.map((row, index) => {
      const pod = podOf(row, 'memory');
      return { ...pod, spec: { ...pod.spec, resources: { requests: requestsOfPods[index] ?? {} } } };
    });
    expect(rankedNames(pods, usagesOf(rows, memoryUsage), 'memory.available')).toEqual(['exceeds-pod', 'within-pod']);
  });

  test('disk by disk emptyDirs and ConfigMaps, but by no other volume', () => {
    const pod = aPod({
      volumes: [
        { name: 'disk', emptyDir: {} },
        { name: 'memory', emptyDir: { medium: 'Memory' } },
        { name: 'config', configMap: { name: 'config' } },
        { name: 'secret', secret: { secretName: 'secret' } },
      ],
    });
    const volumes = ['disk', 'memory', 'config', 'secret'].map((name, at) => ({ name, bytes: 10 ** at }));
    const usages = { 'uid-1': { containers: [], volumes } };
    const [ranked] = rankPods({ pods: [pod], usages, signal: 'nodefs.available', layout: 'single' });
    expect(ranked?.used).toBe(101);
  });
});

describe('C28: the victim', () => {
  const signal = 'memory.available';
  const rankRows = (rows: readonly Row[], pods: readonly Pod[]) =>
    rankPods({ pods, usages: usagesOf(rows, memoryUsage), signal, layout: 'single' });

  test('is never a critical pod', () => {
    const rows: readonly Row[] = [
      ['static', LOW, '', 900],
      ['system', 2_000_000_000, '', 800],
      ['ordinary', 1_999_999_999, '1Gi', 1],
    ];
    const [first, ...others] = rows.map((row) => podOf(row, 'memory'));
    if (first === undefined) throw new Error('there are rows');
    const annotations = { 'kubernetes.io/config.source': 'file' };
    const pods = [{ ...first, metadata: { ...first.metadata, annotations } }, ...others];
    expect(selectVictim(rankRows(rows, pods))?.pod.metadata.name).toBe('ordinary');
    expect(selectVictim(rankRows(rows, pods.slice(0, 2)))).toBeUndefined();
  });

  test.each<[string, Signal, PodUsage | undefined, string]>([
    ['1Gi', signal, memoryUsage([300]), 'it uses 300Mi of memory, within its request of 1Gi, and has priority 7'],
    ['100Mi', signal, memoryUsage([300]), 'it uses 300Mi of memory, 200Mi more than it requests, and has priority 7'],
    ['', signal, undefined, 'its usage is unknown, and it has priority 7'],
    ['', 'nodefs.inodesFree', diskUsage('inodes')([2_000]), 'it uses 2k of inodes and has priority 7'],
    ['', 'pid.available', processUsage([12]), 'it has priority 7 and 12 processes'],
  ])('with a request of %j is explained for %s', (request, ofSignal, usage, expected) => {
    const pod = podOf(['web', 7, request], 'memory');
    const usages: PodUsages = usage === undefined ? {} : { web: usage };
    const [ranked] = rankPods({ pods: [pod], usages, signal: ofSignal, layout: 'single' });
    expect(ranked && rankingReason(ofSignal, ranked)).toBe(expected);
  });
});
