import { expect, test } from '@jest/globals';
import { type DiskLayout, diskPartsOf, reclaimStepsOf } from '../../../kubernetes/eviction/layout.ts';

const ALL = 'rootfs,logs,volumes';

/**
 * The rankings and reclaim functions of `buildSignalToRankFunc` and `buildSignalToNodeReclaimFuncs`
 * (`TestNodeReclaimFuncs`).
 */
test.each<[DiskLayout, 'nodefs' | 'imagefs' | 'containerfs', string, string]>([
  ['single', 'nodefs', ALL, 'deadContainers,unusedImages'],
  ['single', 'imagefs', ALL, 'deadContainers,unusedImages'],
  ['single', 'containerfs', ALL, 'deadContainers,unusedImages'],
  ['separateImages', 'nodefs', 'logs,volumes', ''],
  ['separateImages', 'imagefs', 'rootfs', 'deadContainers,unusedImages'],
  ['separateImages', 'containerfs', 'rootfs', 'deadContainers,unusedImages'],
  ['split', 'nodefs', ALL, 'deadContainers'],
  ['split', 'imagefs', '', 'unusedImages'],
  ['split', 'containerfs', ALL, 'deadContainers'],
])('C28: with the layout %s, %s ranks pods by %j and reclaims %j', (layout, fileSystem, parts, steps) => {
  for (const signal of [`${fileSystem}.available`, `${fileSystem}.inodesFree`] as const) {
    expect(diskPartsOf(signal, layout).join(',')).toBe(parts);
    expect(reclaimStepsOf(signal, layout).join(',')).toBe(steps);
  }
});

test.each(['memory.available', 'allocatableMemory.available', 'pid.available'] as const)(
  'C28: %s reclaims nothing before a pod is evicted',
  (signal) => {
    expect(reclaimStepsOf(signal, 'single')).toEqual([]);
    expect(diskPartsOf(signal, 'single')).toEqual([]);
  },
);
