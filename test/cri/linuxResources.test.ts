import { describe, expect, test } from '@jest/globals';
import { containerResources, sandboxResources } from '../../cri/linuxResources.ts';
import type { ResourceRequirements } from '../../pod/schema/container.ts';
import { container, node, pod } from './nodeAndPod.ts';

function resourcesOf(resources: ResourceRequirements, facts = node()) {
  const one = container({ resources });
  return containerResources(pod({ containers: [one] }), one, facts);
}

test.each<[ResourceRequirements, object]>([
  [{}, { cpuShares: 2n, cpuQuota: 0n, cpuPeriod: 100_000n, memoryLimitInBytes: 0n }],
  [{ requests: { cpu: '250m' } }, { cpuShares: 256n, cpuQuota: 0n }],
  [{ limits: { cpu: '1500m' } }, { cpuShares: 1536n, cpuQuota: 150_000n }],
  [
    { requests: { cpu: '100m' }, limits: { cpu: '1' } },
    { cpuShares: 102n, cpuQuota: 100_000n },
  ],
  [{ requests: { cpu: '0' }, limits: { cpu: '1' } }, { cpuShares: 2n }],
  [{ limits: { cpu: '5m' } }, { cpuQuota: 1000n }],
  [{ limits: { memory: '64Mi' } }, { memoryLimitInBytes: 67_108_864n }],
  [
    { limits: { 'hugepages-2Mi': '4Mi', 'hugepages-1Gi': '1Gi' } },
    {
      hugepageLimits: [
        { pageSize: '2MB', limit: 4_194_304n },
        { pageSize: '1GB', limit: 1_073_741_824n },
      ],
    },
  ],
])('C25: %j', (resources, expected) => {
  expect(resourcesOf(resources)).toMatchObject(expected);
});

describe('C25: oom_score_adj', () => {
  const guaranteed = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } };
  test.each<[string, ResourceRequirements, boolean, bigint]>([
    ['BestEffort', {}, true, 1000n],
    ['Burstable, a quarter of the memory', { requests: { memory: '1Gi' } }, true, 750n],
    ['Guaranteed', guaranteed, true, -997n],
    ['Guaranteed where it may not be lowered', guaranteed, false, 0n],
    ['Burstable where it may not be lowered', { requests: { memory: '1Gi' } }, false, 750n],
  ])('%s', (_, resources, canLowerOomScoreAdj, expected) => {
    expect(resourcesOf(resources, node({ canLowerOomScoreAdj })).oomScoreAdj).toBe(expected);
  });
});

test('the sandbox has the pod’s own figures before the sum of the containers’', () => {
  const containers = [container({ resources: { limits: { memory: '1Mi', cpu: '1' }, requests: { cpu: '1' } } })];
  const own = { limits: { memory: '8Mi' }, requests: { cpu: '2' } };
  expect(sandboxResources(pod({ containers, resources: own }).spec, node())).toMatchObject({
    cpuShares: 2048n,
    cpuQuota: 100_000n,
    memoryLimitInBytes: 8_388_608n,
  });
});
