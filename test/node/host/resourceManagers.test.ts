import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { nodeResources } from '../../../node/config/compile/nodeResources.ts';
import { compileResourceManagers } from '../../../node/config/compile/resourceManagers.ts';
import { parseConfigFile } from '../../../node/config/files/readFile.ts';
import { settingValues } from '../../../node/config/settings/settingValues.ts';
import { readMemoryManager } from '../../../node/host/resourceManagers.ts';

const GIB = 2 ** 30;

/** A host with two NUMA nodes of 8 GiB, of which the second has 1 GiB of huge pages. */
let root: string;
let rootWithoutNuma: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'statelet-managers-'));
  rootWithoutNuma = join(root, 'flat');
  const cpuFiles = (prefix: string, cpu: number) =>
    [
      [`${prefix}sys/devices/system/cpu/cpu${cpu}/topology/core_id`, String(cpu)],
      [`${prefix}sys/devices/system/cpu/cpu${cpu}/topology/physical_package_id`, String(cpu)],
    ] as const;
  for (const [path, text] of [
    ...cpuFiles('', 0),
    ...cpuFiles('', 1),
    ...cpuFiles('flat/', 0),
    ...[0, 1].flatMap((node) => [
      [`sys/devices/system/node/node${node}/meminfo`, `Node ${node} MemTotal: 8388608 kB`] as const,
      [`sys/devices/system/node/node${node}/distance`, node === 0 ? '10 21' : '21 10'] as const,
      [`sys/devices/system/node/node${node}/cpu${node}/crash_notes`, ''] as const,
    ]),
    ['sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages', '1'] as const,
  ]) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), `${text}\n`);
  }
});
afterAll(() => rm(root, { recursive: true }));

function settingsOf(...lines: readonly string[]) {
  const head = ['apiVersion: kubelet.config.k8s.io/v1beta1', 'kind: KubeletConfiguration'];
  const { config } = parseConfigFile('k.yaml', [...head, 'memoryManagerPolicy: Static', ...lines].join('\n'));
  const values = settingValues({ flags: {}, file: config });
  return { resourceManagers: compileResourceManagers(values), resources: nodeResources(values) };
}

test('builds the policy from the memory of the NUMA nodes and the reservations', async () => {
  const settings = settingsOf(
    'kubeReserved: {memory: 500Mi}',
    'systemReserved: {memory: 1448Mi}',
    'reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}, {numaNode: 1, limits: {memory: 1Gi}}]',
  );
  const manager = await readMemoryManager(settings, root);
  const free = manager?.memoryPolicy.nodes.map(({ tables }) =>
    tables.map((each) => `${each.resource} ${each.free / GIB}`),
  );
  expect(free).toEqual([['memory 7'], ['hugepages-1Gi 1', 'memory 6']]);
  expect(manager?.memoryPolicy.numaDistances).toEqual({ 0: [10, 21], 1: [21, 10] });
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
  await expect(readMemoryManager(settingsOf(...lines), root)).rejects.toThrow(message);
});

test('does not start on a kernel without NUMA', async () => {
  const settings = settingsOf('reservedMemory: [{numaNode: 0, limits: {memory: 100Mi}}]');
  await expect(readMemoryManager(settings, rootWithoutNuma)).rejects.toThrow(
    'memoryManagerPolicy: Static needs a host that reports its NUMA nodes',
  );
});

test('without the policy, nothing is read', async () => {
  const { resources, resourceManagers } = settingsOf();
  const { memoryReservations: _, ...otherManagers } = resourceManagers;
  expect(await readMemoryManager({ resourceManagers: otherManagers, resources }, '/nowhere')).toBeUndefined();
});
