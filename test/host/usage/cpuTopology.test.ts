import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { readCpuTopology } from '../../../host/usage/cpuTopology.ts';
import { formatCpuSet, parseCpuSet } from '../../../kubernetes/cpus/cpuSet.ts';
import { cpusIn, partsOf } from '../../../kubernetes/cpus/cpuTopology.ts';

const directory = await mkdtemp(join(tmpdir(), 'statelet-topology-'));
afterAll(() => rm(directory, { recursive: true }));

let hostCount = 0;

/** Creates a host with these files below `sys/devices/system`. */
async function host(files: ReadonlyMap<string, string>): Promise<string> {
  hostCount += 1;
  const root = join(directory, String(hostCount));
  for (const [path, text] of files) {
    const file = join(root, 'sys/devices/system', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${text}\n`);
  }
  return root;
}

interface CpuFiles {
  readonly core: number;
  readonly socket: number;
  readonly node?: number;
  /** The CPUs that share the last-level cache, and its ID. */
  readonly cache?: readonly [cpus: string, id: number];
}

/** Returns the files of these CPUs, all of which are online. */
function filesOf(cpus: readonly CpuFiles[]): Map<string, string> {
  const files = new Map([['cpu/online', formatCpuSet(cpus.map((_, cpu) => cpu))]]);
  for (const [cpu, { core, socket, node, cache }] of cpus.entries()) {
    files.set(`cpu/cpu${cpu}/topology/core_id`, String(core));
    files.set(`cpu/cpu${cpu}/topology/physical_package_id`, String(socket));
    if (node !== undefined) files.set(`node/node${node}/cpu${cpu}/crash_notes`, '');
    if (cache === undefined) continue;
    const [sharing, id] = cache;
    for (const [index, level, shared] of [
      [0, '1', String(cpu)],
      [3, '3', sharing],
    ] as const) {
      files.set(`cpu/cpu${cpu}/cache/index${index}/level`, level);
      files.set(`cpu/cpu${cpu}/cache/index${index}/id`, String(id));
      files.set(`cpu/cpu${cpu}/cache/index${index}/shared_cpu_list`, shared);
    }
  }
  return files;
}

test('reads cores, sockets, NUMA nodes and their distances', async () => {
  const cpus = [0, 1, 0, 1].flatMap((core, index) => [{ core, socket: index % 2, node: index % 2 }]);
  const files = filesOf([...cpus, ...cpus]);
  files.set('node/node0/distance', '10 21').set('node/node1/distance', '21 10');
  const topology = await readCpuTopology(await host(files));
  expect(topology).toMatchObject({ coreCount: 2, socketCount: 2, numaDistances: { 0: [10, 21], 1: [21, 10] } });
  expect(formatCpuSet(cpusIn(topology.cpus, 'numaNode', [1]))).toBe('1,3,5,7');
  // The ID of a core is the lowest number of its CPUs, because core IDs are only unique within a socket.
  expect(topology.cpus[7]).toEqual({ cpu: 7, core: 1, socket: 1, numaNode: 1, uncoreCache: 1 });
});

test('last-level caches are distinguished only if the cores of a NUMA node share several', async () => {
  const core = (index: number, cache: readonly [string, number]) => ({ core: index, socket: 0, node: 0, cache });
  const split = [0, 1, 2, 3].map((index) => core(index, index < 2 ? ['0-1', 7] : ['2-3', 8]));
  const { cpus } = await readCpuTopology(await host(filesOf(split)));
  expect(partsOf(cpus, 'uncoreCache')).toEqual([7, 8]);
  const whole = [0, 1, 2, 3].map((index) => core(index, ['0-3', 7]));
  const single = await readCpuTopology(await host(filesOf(whole)));
  expect(partsOf(single.cpus, 'uncoreCache')).toEqual([0]);
});

test('ignores CPUs that are offline or have no core', async () => {
  const files = filesOf([0, 1, 2, 3].map((core) => ({ core, socket: 0, node: 0 })));
  files.set('cpu/online', '0-2');
  files.delete('cpu/cpu1/topology/core_id');
  const topology = await readCpuTopology(await host(files));
  expect(topology.cpus.map(({ cpu }) => cpu)).toEqual([0, 2]);
});

test('without NUMA nodes, each socket is one', async () => {
  const topology = await readCpuTopology(await host(filesOf([0, 1].map((socket) => ({ core: 0, socket })))));
  expect(topology.cpus.map(({ numaNode }) => numaNode)).toEqual([0, 1]);
  expect(topology.numaDistances).toBeUndefined();
});

test('fails without CPUs', async () => {
  await expect(readCpuTopology(await host(new Map([['cpu/online', '']])))).rejects.toThrow(
    'could not detect number of cpus',
  );
});

test('reads the topology of this host', async () => {
  const { cpus } = await readCpuTopology();
  expect(cpus.length).toBeGreaterThan(0);
  expect(parseCpuSet(formatCpuSet(cpus.map(({ cpu }) => cpu)))).toHaveLength(cpus.length);
});
