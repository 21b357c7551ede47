import { describe, expect, test } from '@jest/globals';
import { containerResources, sandboxResources } from '../../../cri/config/linuxResources.ts';
import type { NodeDescription } from '../../../cri/nodeDescription.ts';
import type { ResourceRequirements } from '../../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { cgroupFacts } from '../../fakes/cgroups.ts';
import { container, node, pod } from '../nodeAndPod.ts';

function resourcesOf(resources: ResourceRequirements, facts = node()) {
  const one = container({ resources });
  return containerResources(pod({ containers: [one] }), one, facts);
}

describe('C25: the CRI resources of a container', () => {
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
  ])('%j', (resources, expected) => {
    expect(resourcesOf(resources)).toMatchObject(expected);
  });
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

test("the sandbox has the pod's own resources or else the sum of the containers'", () => {
  const containers = [container({ resources: { limits: { memory: '1Mi', cpu: '1' }, requests: { cpu: '1' } } })];
  const own = { limits: { memory: '8Mi' }, requests: { cpu: '2' } };
  expect(sandboxResources(pod({ containers, resources: own }).spec, node())).toMatchObject({
    cpuShares: 2048n,
    cpuQuota: 100_000n,
    memoryLimitInBytes: 8_388_608n,
  });
});

describe('C25: limits on containers', () => {
  const limited = { limits: { memory: '64Mi' } };
  const facts = (over: Partial<typeof cgroupFacts>) => node({ cgroups: { ...cgroupFacts, ...over } });

  test('they do not swap: on v1, memory plus swap has the memory limit; on v2, swap is 0', () => {
    expect(resourcesOf(limited).memorySwapLimitInBytes).toBe(0n);
    const v1 = resourcesOf(limited, facts({ countsSwap: true }));
    expect(v1).toMatchObject({ memorySwapLimitInBytes: 67_108_864n, unified: {} });
    const v2 = resourcesOf(limited, facts({ version: 'v2', countsSwap: true, killsWhole: true }));
    expect(v2).toMatchObject({
      memorySwapLimitInBytes: 0n,
      unified: { 'memory.swap.max': '0', 'memory.oom.group': '1' },
    });
  });

  test('memory is protected and throttled on a node with MemoryQoS, beside the limit of swap', () => {
    const memoryQos = { throttlingFactor: 0.5, isTiered: true, unreservedBytes: 2 ** 30, pageBytes: 4_096 };
    const v2 = facts({ version: 'v2', countsSwap: true, killsWhole: true, memoryQos });
    const { unified } = resourcesOf({ requests: { memory: '32Mi' }, limits: { memory: '64Mi' } }, v2);
    expect(unified).toEqual({
      'memory.oom.group': '1',
      'memory.swap.max': '0',
      'memory.low': String(32 * 2 ** 20),
      'memory.high': String(48 * 2 ** 20),
    });
  });

  test('huge pages of sizes without a limit are 0', () => {
    const { hugepageLimits } = resourcesOf(
      { limits: { 'hugepages-2Mi': '4Mi' } },
      facts({ pageSizes: ['2MB', '1GB'] }),
    );
    expect(hugepageLimits).toEqual([
      { pageSize: '2MB', limit: 4_194_304n },
      { pageSize: '1GB', limit: 0n },
    ]);
  });

  test("the pod's limit applies to containers without a limit of that page size", () => {
    const own = { limits: { 'hugepages-2Mi': '8Mi', 'hugepages-1Gi': '1Gi' } };
    const one = container({ resources: { limits: { 'hugepages-2Mi': '4Mi' } } });
    const { hugepageLimits } = containerResources(
      pod({ containers: [one], resources: own }),
      one,
      facts({ pageSizes: ['2MB', '1GB'] }),
    );
    expect(hugepageLimits).toEqual([
      { pageSize: '2MB', limit: 4_194_304n },
      { pageSize: '1GB', limit: 1_073_741_824n },
    ]);
  });

  test('a node without CFS quotas sends none, and a configured period is sent with the quota', () => {
    const limits = { limits: { cpu: '500m' } };
    expect(resourcesOf(limits, facts({ cfsQuota: false }))).toMatchObject({
      cpuQuota: 0n,
      cpuPeriod: 0n,
      cpuShares: 512n,
    });
    expect(resourcesOf(limits, facts({ cfsPeriod: 10_000 }))).toMatchObject({ cpuQuota: 5_000n, cpuPeriod: 10_000n });
  });

  test('a container without limits has those of its pod', () => {
    const one = container({ resources: { requests: { cpu: '100m' } } });
    const own = pod({ containers: [one], resources: { limits: { cpu: '1', memory: '64Mi' } } });
    expect(containerResources(own, one, node())).toMatchObject({
      cpuShares: 102n,
      cpuQuota: 100_000n,
      memoryLimitInBytes: 67_108_864n,
    });
  });
});

describe('C25: LimitedSwap', () => {
  const Gi = 1024 ** 3;
  const v2 = { ...cgroupFacts, version: 'v2', countsSwap: true, swapBytes: 2 * Gi } as const;
  interface Given {
    readonly cgroups: NodeDescription['cgroups'];
    readonly spec: Partial<PodSpec>;
    readonly annotations: Record<string, string>;
  }
  const quarter = { requests: { memory: '1Gi' }, limits: { memory: '2Gi' } };
  const swapOf = (
    resources: ResourceRequirements,
    { cgroups = v2, spec = {}, annotations = {} }: Partial<Given> = {},
  ) => {
    const one = container({ resources });
    const whole = pod({ containers: [one], ...spec }, { annotations });
    // The node has 4 GiB of memory.
    return containerResources(whole, one, node({ cgroups })).unified['memory.swap.max'];
  };

  test.each<[string, ResourceRequirements, string]>([
    ['a quarter of the memory has a quarter of the swap', quarter, String(Gi / 2)],
    ['so has one without a limit', { requests: { memory: '1Gi' } }, String(Gi / 2)],
    ['a part of a byte is none', { requests: { memory: '3' } }, '1'],
    ['a container that asks for no memory has none', { requests: { cpu: '1' } }, '0'],
    [
      'one whose request is its limit has none',
      { requests: { memory: '1Gi', cpu: '1' }, limits: { memory: '1Gi' } },
      '0',
    ],
    ['a BestEffort one has none', {}, '0'],
    ['one that asks for more than there is has none', { requests: { memory: '5Gi' } }, '0'],
  ])('%s', (_, resources, expected) => {
    expect(swapOf(resources)).toBe(expected);
  });

  test('critical and Guaranteed pods do not swap, nor does any pod under NoSwap or on cgroup v1', () => {
    expect(swapOf(quarter, { spec: { priority: 2_000_000_000 } })).toBe('0');
    const own = { requests: { cpu: '1', memory: '2Gi' }, limits: { cpu: '1', memory: '2Gi' } };
    expect(swapOf(quarter, { spec: { resources: own } })).toBe('0');
    const { swapBytes: _none, ...noSwap } = v2;
    expect(swapOf(quarter, { cgroups: noSwap })).toBe('0');
    expect(swapOf(quarter, { cgroups: { ...v2, version: 'v1' } })).toBeUndefined();
    expect(swapOf(quarter, { cgroups: { ...v2, countsSwap: false } })).toBeUndefined();
  });

  test.each(['file', 'http'])('a static pod of a %s is critical and does not swap', (source) => {
    expect(swapOf(quarter, { annotations: { 'kubernetes.io/config.source': source } })).toBe('0');
  });
});

test('computes the totals of a pod once, however many of its containers are created', () => {
  let reads = 0;
  const limits = {
    get cpu() {
      reads += 1;
      return '1';
    },
  };
  const { spec } = pod({ containers: [{ name: 'main', image: 'i', resources: { limits } }] });
  const first = sandboxResources(spec, node());
  const readsOfFirst = reads;
  expect(sandboxResources(spec, node())).toEqual(first);
  expect(readsOfFirst).toBeGreaterThan(0);
  expect(reads).toBe(readsOfFirst);
});
