import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { nodeResources } from '../../../node/config/compile/nodeResources.ts';
import { compileResourceManagers } from '../../../node/config/compile/resourceManagers.ts';
import { parseConfigFile } from '../../../node/config/files/readFile.ts';
import { settingValues } from '../../../node/config/settings/settingValues.ts';
import { readResourceManagers } from '../../../node/host/resourceManagers.ts';

const GIB = 2 ** 30;

/** A host with two NUMA nodes of 8 GiB, of which the second has 1 GiB of huge pages. */
let root: string;
let rootWithoutNuma: string;
/** A host with two sockets in its only NUMA node. */
let rootWithTwoSocketsPerNode: string;
/** A host whose first NUMA node has a CPU, and whose eight other nodes have only memory. */
let rootWithMemoryNodes: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'statelet-managers-'));
  rootWithoutNuma = join(root, 'flat');
  rootWithTwoSocketsPerNode = join(root, 'sockets');
  rootWithMemoryNodes = join(root, 'memory');
  const cpuFiles = (prefix: string, cpu: number) =>
    [
      [`${prefix}sys/devices/system/cpu/cpu${cpu}/topology/core_id`, String(cpu)],
      [`${prefix}sys/devices/system/cpu/cpu${cpu}/topology/physical_package_id`, String(cpu)],
    ] as const;
  const memoryNodes = Array.from({ length: 9 }, (_, node) => `memory/sys/devices/system/node/node${node}`);
  for (const [path, text] of [
    ...cpuFiles('', 0),
    ...cpuFiles('', 1),
    ...cpuFiles('flat/', 0),
    ...cpuFiles('flat/', 1),
    ...cpuFiles('sockets/', 0),
    ...cpuFiles('sockets/', 1),
    ...cpuFiles('memory/', 0),
    ...[0, 1].flatMap((node) => [
      [`sys/devices/system/node/node${node}/meminfo`, `Node ${node} MemTotal: 8388608 kB`] as const,
      [`sys/devices/system/node/node${node}/distance`, node === 0 ? '10 21' : '21 10'] as const,
      [`sys/devices/system/node/node${node}/cpu${node}/crash_notes`, ''] as const,
    ]),
    ['sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages', '1'] as const,
    ...memoryNodes.map((directory) => [`${directory}/distance`, '10'.concat(' 21'.repeat(8))] as const),
    ['memory/sys/devices/system/node/node0/cpu0/crash_notes', ''] as const,
    ...[0, 1].map((cpu) => [`sockets/sys/devices/system/node/node0/cpu${cpu}/crash_notes`, ''] as const),
  ]) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), `${text}\n`);
  }
});
afterAll(() => rm(root, { recursive: true }));

function settingsOf(...lines: readonly string[]) {
  const head = ['apiVersion: kubelet.config.k8s.io/v1beta1', 'kind: KubeletConfiguration'];
  const { config } = parseConfigFile('k.yaml', [...head, ...lines].join('\n'));
  const values = settingValues({ flags: {}, file: config });
  return { resourceManagers: compileResourceManagers(values), resources: nodeResources(values) };
}

const withMemoryPolicy = (...lines: readonly string[]) => settingsOf('memoryManagerPolicy: Static', ...lines);

test('builds the policy from the memory of the NUMA nodes and the reservations', async () => {
  const settings = withMemoryPolicy(
    'kubeReserved: {memory: 500Mi}',
    'systemReserved: {memory: 1448Mi}',
    'reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}, {numaNode: 1, limits: {memory: 1Gi}}]',
  );
  const { memoryManager } = await readResourceManagers(settings, root);
  const free = memoryManager?.memoryPolicy.nodes.map(({ tables }) =>
    tables.map((each) => `${each.resource} ${each.free / GIB}`),
  );
  expect(free).toEqual([['memory 7'], ['hugepages-1Gi 1', 'memory 6']]);
});

test.each([
  [
    ['reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]'],
    'the total amount "1Gi" of type "memory" is not equal to the value "100Mi" determined by Node Allocatable feature',
  ],
  [
    ['evictionHard: {memory.available: 10%}', 'reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]'],
    'is not equal to the value "1717986944" determined by Node Allocatable feature',
  ],
  [
    ['reservedMemory: [{numaNode: 2, limits: {memory: 100Mi}}]'],
    'the reserved memory configuration references a NUMA node 2 that does not exist on this machine',
  ],
  [['evictionHard: {nodefs.available: 1%}'], '[memorymanager] you should specify the system reserved memory'],
])('does not start with %j, and has the message of a kubelet', async (lines, message) => {
  await expect(readResourceManagers(withMemoryPolicy(...lines), root)).rejects.toThrow(message);
});

test('does not start on a kernel without NUMA', async () => {
  const settings = withMemoryPolicy('reservedMemory: [{numaNode: 0, limits: {memory: 100Mi}}]');
  await expect(readResourceManagers(settings, rootWithoutNuma)).rejects.toThrow(
    'memoryManagerPolicy: Static needs a host that reports its NUMA nodes',
  );
});

test('without a policy, no files of the host are read', async () => {
  expect(await readResourceManagers(settingsOf(), '/nowhere')).toEqual({});
});

test('the topology policy is the same with and without the other managers', async () => {
  const topologyLines = ['topologyManagerPolicy: restricted', 'topologyManagerScope: pod'];
  const topologyManager = {
    policy: { name: 'restricted', isPerPod: true, prefersClosest: false },
    numaNodes: { ids: [0, 1], distances: { 0: [10, 21], 1: [21, 10] } },
  };
  expect(await readResourceManagers(settingsOf(...topologyLines), root)).toEqual({ topologyManager });
  const settings = withMemoryPolicy(
    ...topologyLines,
    'cpuManagerPolicy: static',
    'kubeReserved: {cpu: 500m}',
    'reservedMemory: [{numaNode: 0, limits: {memory: 100Mi}}]',
  );
  const managers = await readResourceManagers(settings, root);
  expect(managers).toMatchObject({ topologyManager, cpuManager: {}, memoryManager: {} });
});

test('the topology policy includes NUMA nodes without CPUs, and treats each socket as a node on a kernel without NUMA', async () => {
  const manyNodes = 'topologyManagerPolicyOptions: {max-allowable-numa-nodes: "9"}';
  const settings = settingsOf('topologyManagerPolicy: best-effort', manyNodes);
  const idsOn = async (host: string) => (await readResourceManagers(settings, host)).topologyManager?.numaNodes.ids;
  expect(await idsOn(rootWithMemoryNodes)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  expect(await idsOn(rootWithoutNuma)).toEqual([0, 1]);
});

test.each<[string, () => string, readonly string[], string]>([
  [
    'nine NUMA nodes, most of them without CPUs',
    () => rootWithMemoryNodes,
    ['topologyManagerPolicy: best-effort'],
    'unsupported on machines with more than 8 NUMA Nodes',
  ],
  [
    'no distances',
    () => rootWithoutNuma,
    ['topologyManagerPolicy: restricted', 'topologyManagerPolicyOptions: {prefer-closest-numa-nodes: "true"}'],
    'cannot discover NUMA topology: error getting NUMA distances from cadvisor',
  ],
  ['too few CPUs', () => root, ['reservedSystemCPUs: "1-2"'], 'CPUs 2 are not online; the host has 0-1'],
  [
    'more sockets than NUMA nodes',
    () => rootWithTwoSocketsPerNode,
    [
      'cpuManagerPolicy: static',
      'kubeReserved: {cpu: 500m}',
      'featureGates: {CPUManagerPolicyAlphaOptions: true}',
      'cpuManagerPolicyOptions: {align-by-socket: "true"}',
    ],
    'Align by socket is not compatible with hardware where number of sockets are more than number of NUMA',
  ],
])('does not start on a host with %s if the settings need more', async (_host, hostRoot, lines, message) => {
  await expect(readResourceManagers(settingsOf(...lines), hostRoot())).rejects.toThrow(message);
});

test.each(['none', ''])('the topology policy %j accepts any number of NUMA nodes', async (name) => {
  const settings = settingsOf(`topologyManagerPolicy: "${name}"`, 'reservedSystemCPUs: "0"');
  expect(await readResourceManagers(settings, rootWithMemoryNodes)).toEqual({});
});
