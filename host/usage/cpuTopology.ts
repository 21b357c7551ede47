/**
 * Reads the layout of the host's CPUs from sysfs, like cAdvisor (`GetNodesInfo` and `addCacheInfo` in
 * `utils/sysinfo/sysinfo.go`).
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CpuSet, cpuSetOf, intersectionOf, parseCpuSet } from '../../kubernetes/cpus/cpuSet.ts';
import type { CpuInfo, CpuTopology } from '../../kubernetes/cpus/cpuTopology.ts';

/** Lowest cache level that is treated as shared by several cores. */
const SHARED_CACHE_LEVEL = 3;

interface CoreThreads {
  readonly socket: number;
  readonly cpus: CpuSet;
}

/** Reads the topology of the online CPUs. Rejects if there are none. `root` is the directory that contains `sys`. */
export async function readCpuTopology(root = '/'): Promise<CpuTopology> {
  const systemDirectory = join(root, 'sys/devices/system');
  const numaNodes = await listNumbered(join(systemDirectory, 'node'), 'node');
  const onlineCpus = await readCpuSet(join(systemDirectory, 'cpu/online'));
  const [cpusByNode, distances] = await Promise.all([
    Promise.all(numaNodes.map((node) => listNumbered(join(systemDirectory, 'node', `node${node}`), 'cpu'))),
    Promise.all(numaNodes.map((node) => readDistances(join(systemDirectory, 'node', `node${node}`, 'distance')))),
  ]);
  const allCpus =
    numaNodes.length > 0 ? cpuSetOf(cpusByNode.flat()) : await listNumbered(join(systemDirectory, 'cpu'), 'cpu');
  const cores = await readCores(
    systemDirectory,
    onlineCpus === undefined ? allCpus : intersectionOf(allCpus, onlineCpus),
  );
  // On a host without NUMA nodes, each socket is treated as a NUMA node.
  const numaNodeOf = (cpu: number, socket: number) =>
    numaNodes.length === 0 ? socket : (numaNodes[cpusByNode.findIndex((cpus) => cpus.includes(cpu))] ?? 0);
  const locatedCores = cores.map((core) => ({ ...core, numaNode: numaNodeOf(core.cpus[0] ?? 0, core.socket) }));
  const cpus = await Promise.all(
    locatedCores.map(async ({ socket, numaNode, cpus: threads }) => {
      const coresOnNode = locatedCores.filter((each) => each.numaNode === numaNode).length;
      const cache = await readUncoreCache(systemDirectory, threads, coresOnNode);
      const core = threads[0] ?? 0;
      return threads.map((cpu): CpuInfo => ({ cpu, core, socket, numaNode, uncoreCache: cache ?? socket }));
    }),
  );
  if (cpus.length === 0) throw new Error('could not detect number of cpus');
  return {
    cpus: cpus.flat().sort((a, b) => a.cpu - b.cpu),
    coreCount: cores.length,
    socketCount: new Set(cores.map(({ socket }) => socket)).size,
    ...(numaNodes.length === 0
      ? {}
      : { numaDistances: Object.fromEntries(numaNodes.map((node, index) => [String(node), distances[index] ?? []])) }),
  };
}

/** Returns the cores of the given CPUs. CPUs without a core or socket are ignored. */
async function readCores(system: string, cpus: CpuSet): Promise<CoreThreads[]> {
  const placements = await Promise.all(
    cpus.map(async (cpu) => {
      const topology = join(system, 'cpu', `cpu${cpu}`, 'topology');
      const [core, socket] = await Promise.all([
        readNumber(join(topology, 'core_id')),
        readNumber(join(topology, 'physical_package_id')),
      ]);
      return core === undefined || socket === undefined ? undefined : { cpu, core, socket };
    }),
  );
  const cores = new Map<string, { socket: number; cpus: number[] }>();
  for (const placement of placements) {
    if (placement === undefined) continue;
    const { cpu, core, socket } = placement;
    const key = `${socket}/${core}`;
    const existingCore = cores.get(key);
    if (existingCore === undefined) cores.set(key, { socket, cpus: [cpu] });
    else existingCore.cpus.push(cpu);
  }
  return [...cores.values()];
}

/** Returns the ID of the cache that a core shares with some, but not all, cores of its NUMA node. */
async function readUncoreCache(system: string, threads: CpuSet, coresOnNode: number): Promise<number | undefined> {
  const directory = join(system, 'cpu', `cpu${threads[0] ?? 0}`, 'cache');
  for (const index of await listNumbered(directory, 'index')) {
    const cache = join(directory, `index${index}`);
    const [level, id, sharing] = await Promise.all([
      readNumber(join(cache, 'level')),
      readNumber(join(cache, 'id')),
      readCpuSet(join(cache, 'shared_cpu_list')),
    ]);
    if (level === undefined || level < SHARED_CACHE_LEVEL || sharing === undefined) continue;
    if (sharing.length !== coresOnNode * threads.length) return id;
  }
  return undefined;
}

/** Lists the numbers of the directory entries whose names have a prefix, e.g. 0 and 1 for `node0` and `node1`. */
async function listNumbered(directory: string, prefix: string): Promise<CpuSet> {
  const names = await readdir(directory).catch(() => []);
  const numbers = names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  return cpuSetOf(numbers.filter((digits) => /^\d+$/.test(digits)).map(Number));
}

const readText = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  );

async function readNumber(path: string): Promise<number | undefined> {
  const text = await readText(path);
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text);
}

async function readCpuSet(path: string): Promise<CpuSet | undefined> {
  const text = await readText(path);
  return text === undefined ? undefined : parseCpuSet(text);
}

const readDistances = async (path: string): Promise<number[]> =>
  ((await readText(path)) ?? '').split(/\s+/).filter(Boolean).map(Number);
