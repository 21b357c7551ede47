import { describe, expect, test } from '@jest/globals';
import {
  busctlProperties,
  type Controller,
  cgroupFiles,
  cpuWeight,
  newSliceProperties,
  sliceProperties,
} from '../../../kubernetes/resources/cgroupFiles.ts';
import type { CgroupLimits } from '../../../kubernetes/resources/cgroupLimits.ts';

const full: CgroupLimits = {
  cpuShares: 512,
  cpu: { quota: 50_000, period: 100_000 },
  memoryBytes: 67_108_864,
  pids: 100,
  hugepages: { '2MB': 4_194_304, '1GB': 0 },
};
const unlimited: CgroupLimits = { cpuShares: 2, cpu: { quota: -1, period: 100_000 }, hugepages: { '2MB': 2 ** 62 } };
const written = (limits: CgroupLimits, versionOf: (controller: Controller) => 'v1' | 'v2' | undefined) =>
  cgroupFiles(limits, versionOf).map(({ controller, file, value }) => `${controller}: ${file} = ${value}`);

describe('C25: the files of a cgroup', () => {
  test('v1', () => {
    expect(written(full, () => 'v1')).toEqual([
      'cpu: cpu.shares = 512',
      'cpu: cpu.cfs_period_us = 100000',
      'cpu: cpu.cfs_quota_us = 50000',
      'memory: memory.limit_in_bytes = 67108864',
      'pids: pids.max = 100',
      'hugetlb: hugetlb.2MB.limit_in_bytes = 4194304',
      'hugetlb: hugetlb.1GB.limit_in_bytes = 0',
    ]);
    expect(written(unlimited, () => 'v1')).toEqual([
      'cpu: cpu.shares = 2',
      'cpu: cpu.cfs_period_us = 100000',
      'cpu: cpu.cfs_quota_us = -1',
      'hugetlb: hugetlb.2MB.limit_in_bytes = 4611686018427387904',
    ]);
  });

  test('v2', () => {
    expect(written(full, () => 'v2')).toEqual([
      'cpu: cpu.weight = 20',
      'cpu: cpu.max = 50000 100000',
      'memory: memory.max = 67108864',
      'pids: pids.max = 100',
      'hugetlb: hugetlb.2MB.max = 4194304',
      'hugetlb: hugetlb.1GB.max = 0',
    ]);
    expect(written(unlimited, () => 'v2')).toEqual([
      'cpu: cpu.weight = 1',
      'cpu: cpu.max = max 100000',
      'hugetlb: hugetlb.2MB.max = 4611686018427387904',
    ]);
  });

  test('hybrid: uses the version of each controller, and skips missing controllers', () => {
    const versions = { cpu: 'v1', memory: 'v1', pids: 'v2', hugetlb: undefined } as const;
    expect(written(full, (controller) => versions[controller])).toEqual([
      'cpu: cpu.shares = 512',
      'cpu: cpu.cfs_period_us = 100000',
      'cpu: cpu.cfs_quota_us = 50000',
      'memory: memory.limit_in_bytes = 67108864',
      'pids: pids.max = 100',
    ]);
  });

  test('leaves out files without limits', () => expect(written({}, () => 'v1')).toEqual([]));

  test.each([
    [2, 1],
    [102, 4],
    [512, 20],
    [1024, 39],
    [21_760, 830],
    [262_144, 10_000],
  ])('convert %i shares to the weight %i', (shares, weight) => expect(cpuWeight(shares)).toBe(weight));
});

describe('C25: the properties of a slice', () => {
  test('on v1', () => {
    expect(sliceProperties(full, 'v1')).toEqual([
      ['CPUShares', 't', '512'],
      ['CPUQuotaPerSecUSec', 't', '500000'],
      ['CPUQuotaPeriodUSec', 't', '100000'],
      ['MemoryLimit', 't', '67108864'],
      ['TasksMax', 't', '100'],
    ]);
  });

  test('on v2: no quota is the largest number, and others are rounded up to 10 ms per second', () => {
    expect(sliceProperties(unlimited, 'v2')).toEqual([
      ['CPUWeight', 't', '1'],
      ['CPUQuotaPerSecUSec', 't', '18446744073709551615'],
      ['CPUQuotaPeriodUSec', 't', '100000'],
    ]);
    expect(sliceProperties({ memoryBytes: 5 }, 'v2')).toEqual([['MemoryMax', 't', '5']]);
    expect(sliceProperties({ cpu: { quota: 1234, period: 100_000 } }, 'v2')[0]).toEqual([
      'CPUQuotaPerSecUSec',
      't',
      '20000',
    ]);
  });

  test('of a new slice include its parent and accounting', () => {
    const properties = newSliceProperties('kubepods-burstable-pod1.slice', { cpuShares: 2 }, 'v2');
    expect(busctlProperties(properties).join(' ')).toBe(
      '7 Description s pods (kubepods-burstable-pod1.slice) Wants as 1 kubepods-burstable.slice ' +
        'DefaultDependencies b false CPUAccounting b true MemoryAccounting b true TasksAccounting b true CPUWeight t 1',
    );
    expect(newSliceProperties('kubepods.slice', {}, 'v2').map(([name]) => name)).not.toContain('Wants');
  });
});
