import { expect, test } from '@jest/globals';
import { nodeUsageTable, type PodUsage, podUsageTable } from '../../../show/tables/usageTable.ts';

const MIB = 2 ** 20;

const container = (name: string, millis: number, mib: number) => ({
  name,
  usage: { cpuNanoCores: millis * 1e6, memoryBytes: mib * MIB },
});

const pods: readonly PodUsage[] = [
  { namespace: 'shop', name: 'cart', containers: [container('main', 100, 10)] },
  { namespace: 'default', name: 'web', containers: [container('main', 2, 64), container('side', 0.000_001, 8.9)] },
  { namespace: 'default', name: 'db', containers: [container('main', 1, 30)] },
];

const plain = { showsNamespaces: false, containers: false, sortBy: undefined };

test('a pod has the sum of its containers in millicores, rounded up, and whole mebibytes', () => {
  expect(podUsageTable(pods, plain)).toEqual([
    ['NAME', 'CPU(cores)', 'MEMORY(bytes)'],
    ['db', '1m', '30Mi'],
    ['web', '3m', '72Mi'],
    ['cart', '100m', '10Mi'],
  ]);
});

test('each container has a row, and the namespace is the first column', () => {
  expect(podUsageTable(pods, { ...plain, showsNamespaces: true, containers: true })).toEqual([
    ['NAMESPACE', 'POD', 'NAME', 'CPU(cores)', 'MEMORY(bytes)'],
    ['default', 'db', 'main', '1m', '30Mi'],
    ['default', 'web', 'main', '2m', '64Mi'],
    ['default', 'web', 'side', '1m', '8Mi'],
    ['shop', 'cart', 'main', '100m', '10Mi'],
  ]);
});

test('the largest usage is first when a table is sorted', () => {
  const namesBy = (sortBy: 'cpu' | 'memory') =>
    podUsageTable(pods, { ...plain, sortBy }).flatMap(([name = ''], index) => (index === 0 ? [] : [name]));
  expect(namesBy('cpu')).toEqual(['cart', 'web', 'db']);
  expect(namesBy('memory')).toEqual(['web', 'db', 'cart']);
});

test('a node has percentages of its allocatable resources, rounded down', () => {
  const usage = { cpuNanoCores: 250_000_001, memoryBytes: 1_024 * MIB };
  const allocatable = new Map([
    ['cpu', '1500m'],
    ['memory', '4Gi'],
  ]);
  expect(nodeUsageTable([{ name: 'host', usage, allocatable }], undefined)).toEqual([
    ['NAME', 'CPU(cores)', 'CPU(%)', 'MEMORY(bytes)', 'MEMORY(%)'],
    ['host', '251m', '16%', '1024Mi', '25%'],
  ]);
  const [, row] = nodeUsageTable([{ name: 'host', usage, allocatable: new Map() }], undefined);
  expect(row).toEqual(['host', '251m', '<unknown>', '1024Mi', '<unknown>']);
});
