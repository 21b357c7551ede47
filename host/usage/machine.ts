/**
 * Reads the CPUs and the memory of the host from sysfs and /proc like cAdvisor (`GetNodesInfo` in `utils/sysinfo`,
 * `GetMachineMemoryCapacity` in `machine`). The affinity and the quota of this process are ignored, because the pods
 * run in their own cgroups.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseMeminfoBytes } from './hostFacts.ts';

export interface MachineInfo {
  /** Number of online logical CPUs. */
  readonly cpuCount: number;
  readonly memoryBytes: number;
}

/**
 * Reads the host's CPUs and memory. Rejects if the files do not exist. `root` is the directory that contains `sys` and
 * `proc`.
 */
export async function readMachine(root = '/'): Promise<MachineInfo> {
  const [cpuCount, meminfo] = await Promise.all([
    countCpus(join(root, 'sys/devices/system')),
    readFile(join(root, 'proc/meminfo'), 'utf8'),
  ]);
  const memoryBytes = parseMeminfoBytes(meminfo, 'MemTotal');
  if (memoryBytes === undefined) throw new Error(`${join(root, 'proc/meminfo')}: expected a line MemTotal`);
  return { cpuCount, memoryBytes };
}

/** Type of the entry with the page size in the auxiliary vector of a process (`AT_PAGESZ` in `elf.h`). */
const PAGE_SIZE_TYPE = 6n;
const ENTRY_BYTES = 16;

/** Reads the kernel's page size in bytes. Returns 4096 if it is unknown. */
export async function readPageBytes(file = '/proc/self/auxv'): Promise<number> {
  const vector = await readFile(file).catch(() => Buffer.alloc(0));
  for (let offset = 0; offset + ENTRY_BYTES <= vector.length; offset += ENTRY_BYTES) {
    if (vector.readBigUInt64LE(offset) === PAGE_SIZE_TYPE) return Number(vector.readBigUInt64LE(offset + 8));
  }
  return 4_096;
}

const NODE_DIRECTORY_PATTERN = /^node\d/;
const CPU_DIRECTORY_PATTERN = /^cpu\d/;

/** Counts the online CPUs of all NUMA nodes, or all CPUs if the host has no NUMA nodes. */
async function countCpus(system: string): Promise<number> {
  const cpuPath = join(system, 'cpu');
  const onlineCpus = await readCpuList(join(cpuPath, 'online'));
  const numaNodes = await listMatching(join(system, 'node'), NODE_DIRECTORY_PATTERN);
  if (numaNodes.length === 0) {
    const cpus = await listMatching(cpuPath, CPU_DIRECTORY_PATTERN);
    if (cpus.length === 0) throw new Error(`${cpuPath}: expected the CPUs of this host, and there are none`);
    return cpus.length;
  }
  const countsPerNode = await Promise.all(
    numaNodes.map(async (node) => {
      const directory = join(system, 'node', node);
      const cpus = (await listMatching(directory, CPU_DIRECTORY_PATTERN)).filter(
        (name) => onlineCpus === undefined || onlineCpus.has(parseCpuNumber(name)),
      );
      const topologyChecks = await Promise.all(cpus.map((name) => hasTopology(join(directory, name))));
      return topologyChecks.filter(Boolean).length;
    }),
  );
  const count = countsPerNode.reduce((sum, nodeCount) => sum + nodeCount, 0);
  if (count === 0) throw new Error(`${join(system, 'node')}: expected CPUs that are online, and there are none`);
  return count;
}

const parseCpuNumber = (name: string): number => Number(/\d+/.exec(name)?.[0]);

/**
 * Reads a list of numbers in the kernel's format, e.g. `0,3-5`. Returns undefined on a kernel without CPU hotplug,
 * where all CPUs are online and the file does not exist.
 */
async function readCpuList(path: string): Promise<ReadonlySet<number> | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const ranges = text
    .trim()
    .split(',')
    .map((range) => range.split('-').map(Number));
  return new Set(
    ranges.flatMap(([first = 0, last = first]) =>
      Array.from({ length: last - first + 1 }, (_, index) => first + index),
    ),
  );
}

/** Whether the kernel reports the core and the socket of a CPU. cAdvisor ignores CPUs without them. */
async function hasTopology(cpu: string): Promise<boolean> {
  const paths = ['core_id', 'physical_package_id'].map((file) => join(cpu, 'topology', file));
  const stats = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  return stats.every((each) => each !== undefined);
}

const listMatching = async (directory: string, pattern: RegExp): Promise<string[]> =>
  (await readdir(directory).catch(() => [])).filter((name) => pattern.test(name));
