/** Tests the series of the CPU and topology managers that Kubernetes' own node tests read (`test/e2e_node`). */
import { expect, test } from '@jest/globals';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import type { CpuPolicyOptions } from '../../../../kubernetes/cpus/cpuPolicy.ts';
import {
  type SimulatedMachine,
  simulatedCpuManager,
  simulatedTopologyManager,
} from '../../../../testing/simulation/host/cpuTopologies.ts';
import { containerWith, podWith } from '../../../fakes/pods.ts';
import { countedNode, samplesOf } from '../support/scraped.ts';

const COUNTERS = ['pinning_requests_total', 'pinning_errors_total'].map((name) => `kubelet_cpu_manager_${name}`);
const ALIGNED = 'kubelet_container_aligned_compute_resources_count';
const FAILED = 'kubelet_container_aligned_compute_resources_failure_count';
const POOL = 'kubelet_cpu_manager_shared_pool_size_millicores';
const EXCLUSIVE = 'kubelet_cpu_manager_exclusive_cpu_allocation_count';
const PER_NODE = 'kubelet_cpu_manager_allocation_per_numa';

/** Creates a node that assigns the CPUs of a machine. The first CPU is reserved. */
async function nodeOn(
  machine: SimulatedMachine,
  options: CpuPolicyOptions = {},
  topologyManager?: ReturnType<typeof simulatedTopologyManager>,
) {
  const cpuManager = simulatedCpuManager(machine, options);
  const { node, metrics } = await countedNode({
    config: topologyManager === undefined ? { cpuManager } : { cpuManager, topologyManager },
  });
  await node.advance('1s');
  /** Returns the samples of these families by their label values. */
  const samples = async (...families: readonly string[]) => {
    const all = [...(await samplesOf(metrics.registries.all))].map(([series, value]) => {
      const [name = '', labels = ''] = series.split('{');
      return [name, [...labels.matchAll(/"([^"]*)"/g)].map(([, label]) => label).join(' '), value] as const;
    });
    return families.map((family) =>
      Object.fromEntries(all.flatMap(([name, labels, value]) => (name === family ? [[labels, value]] : []))),
    );
  };
  return {
    node,
    samples,
    run: async (pod: Pod) => {
      node.apply(pod);
      await node.advance('10s');
    },
  };
}

function pinned(cpus: number): Pod {
  const amounts = { cpu: String(cpus), memory: '64Mi' };
  return podWith('web', { containers: [containerWith('main', { resources: { requests: amounts, limits: amounts } })] });
}

test('C42: on a node with exclusive CPUs, the counters exist from the start with the value 0', async () => {
  const { samples } = await nodeOn('laptop');
  expect(await samples(...COUNTERS, ALIGNED, FAILED)).toEqual([
    { '': 0 },
    { '': 0 },
    { 'container physical_cpu': 0, 'container uncore_cache': 0 },
    { 'container physical_cpu': 0 },
  ]);
});

test('C42: under a topology policy, the counters of both scopes exist from the start with the value 0', async () => {
  const { samples } = await nodeOn('xeonE5', {}, simulatedTopologyManager('xeonE5', 'single-numa-node'));
  const numaNode = { 'container numa_node': 0, 'pod numa_node': 0 };
  expect(await samples(ALIGNED, FAILED)).toEqual([
    { 'container physical_cpu': 0, 'container uncore_cache': 0, ...numaNode },
    { 'container physical_cpu': 0, ...numaNode },
  ]);
});

test('C42: a node without policies exposes no alignment counters, even after it has admitted a pod', async () => {
  const { node, metrics } = await countedNode();
  node.apply(pinned(2));
  await node.advance('10s');
  const series = [...(await samplesOf(metrics.registries.all)).keys()];
  expect(series.filter((name) => /aligned_compute_resources|cpu_manager_allocation_per_numa/.test(name))).toEqual([]);
});

test('C42: a pod whose CPUs are not whole cores counts as a request, an error and a failed alignment', async () => {
  const { samples, run } = await nodeOn('laptop', { fullPcpusOnly: true });
  await run(pinned(1));
  expect(await samples(...COUNTERS, ALIGNED, FAILED)).toEqual([
    { '': 1 },
    { '': 1 },
    { 'container physical_cpu': 0, 'container uncore_cache': 0 },
    { 'container physical_cpu': 1 },
  ]);
});

test('C42: a pod with whole cores counts as a request and an alignment', async () => {
  const { samples, run } = await nodeOn('laptop', { fullPcpusOnly: true });
  await run(pinned(2));
  const [requests, errors, aligned, failed] = await samples(...COUNTERS, ALIGNED, FAILED);
  expect([requests, errors, failed]).toEqual([{ '': 1 }, { '': 0 }, { 'container physical_cpu': 0 }]);
  expect(aligned).toMatchObject({ 'container physical_cpu': 1 });
});

test('C42: the size of the shared pool and the number of exclusive CPUs change with a Guaranteed pod', async () => {
  const { node, samples, run } = await nodeOn('laptop');
  const idle = [{ '': 7_000 }, { '': 0 }];
  expect(await samples(POOL, EXCLUSIVE)).toEqual(idle);
  await run(pinned(2));
  expect(await samples(POOL, EXCLUSIVE)).toEqual([{ '': 5_000 }, { '': 2 }]);
  node.remove('web');
  await node.advance('60s');
  expect(await samples(POOL, EXCLUSIVE)).toEqual(idle);
});

test('C42: exclusive CPUs are counted for each NUMA node, including nodes without any', async () => {
  const { samples, run } = await nodeOn('xeonE5', {}, simulatedTopologyManager('xeonE5', 'single-numa-node'));
  expect(await samples(PER_NODE)).toEqual([{ 0: 0, 1: 0 }]);
  await run(pinned(28));
  expect(await samples(PER_NODE)).toEqual([{ 0: 0, 1: 28 }]);
});

test.each([
  ['fewer CPUs than a last-level cache has', 2, 1],
  ['all CPUs of a last-level cache', 16, 1],
  ['more CPUs than a last-level cache has', 18, 0],
])('C42: a pod with %s counts as aligned unless its CPUs have several caches', async (_what, cpus, count) => {
  const { samples, run } = await nodeOn('ryzen', { preferAlignCpusByUncoreCache: true });
  await run(pinned(cpus));
  const [pinning, aligned] = await samples('kubelet_cpu_manager_pinning_requests_total', ALIGNED);
  expect(pinning).toEqual({ '': 1 });
  expect(aligned).toMatchObject({ 'container uncore_cache': count });
});

test.each([
  ['container', false, 28, { aligned: 1, failed: 0 }],
  ['pod', true, 28, { aligned: 1, failed: 0 }],
  ['container', false, 30, { aligned: 0, failed: 1 }],
  ['pod', true, 30, { aligned: 0, failed: 1 }],
] as const)(
  'C42: in the scope %s, alignment is counted for the scope (%s, %s CPUs)',
  async (scope, isPerPod, cpus, count) => {
    const { samples, run } = await nodeOn(
      'xeonE5',
      {},
      simulatedTopologyManager('xeonE5', 'single-numa-node', isPerPod),
    );
    await run(pinned(cpus));
    const counts = await samples(ALIGNED, FAILED);
    const numaNode = { 'container numa_node': 0, 'pod numa_node': 0 };
    expect(counts).toEqual([
      expect.objectContaining({ ...numaNode, [`${scope} numa_node`]: count.aligned }),
      expect.objectContaining({ ...numaNode, [`${scope} numa_node`]: count.failed }),
    ]);
  },
);

test('C42: under a topology policy, an admission counts once, and as an error if the pod fits on no NUMA node', async () => {
  const { samples, run } = await nodeOn('xeonE5', {}, simulatedTopologyManager('xeonE5', 'single-numa-node'));
  const counts = async () => {
    const families = ['requests_total', 'errors_total', 'duration_ms_count'];
    return (await samples(...families.map((name) => `kubelet_topology_manager_admission_${name}`))).map(
      (each) => each[''],
    );
  };
  expect(await counts()).toEqual([0, 0, 0]);
  await run(pinned(30));
  expect(await counts()).toEqual([1, 1, 1]);
});
