/**
 * The CPUs and the memory of the host, from sysfs and /proc as cAdvisor reads them (`GetNodesInfo` in `utils/sysinfo`,
 * `GetMachineMemoryCapacity` in `machine`). The affinity and the quota of this process do not count, because its pods run
 * in cgroups of their own.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { meminfoBytes } from './hostFacts.ts';

export interface Machine {
  /** The logical CPUs that are online. */
  readonly cpuCount: number;
  readonly memoryBytes: number;
}

/** Reads the machine. Rejects if the host does not have the files. `root` is the directory that has `sys` and `proc`. */
export async function readMachine(root = '/'): Promise<Machine> {
  const [cpuCount, meminfo] = await Promise.all([
    countCpus(join(root, 'sys/devices/system')),
    readFile(join(root, 'proc/meminfo'), 'utf8'),
  ]);
  const memoryBytes = meminfoBytes(meminfo, 'MemTotal');
  if (memoryBytes === undefined) throw new Error(`${join(root, 'proc/meminfo')}: expected a line MemTotal`);
  return { cpuCount, memoryBytes };
}

const NODE = /^node\d/;
const CPU = /^cpu\d/;

/** Counts the online CPUs of all NUMA nodes, or all CPUs on a host that shows no NUMA nodes. */
async function countCpus(system: string): Promise<number> {
  const cpuPath = join(system, 'cpu');
  const online = await onlineIn(join(cpuPath, 'online'));
  const nodes = await namesIn(join(system, 'node'), NODE);
  if (nodes.length === 0) {
    const cpus = await namesIn(cpuPath, CPU);
    if (cpus.length === 0) throw new Error(`${cpuPath}: expected the CPUs of this host, and there are none`);
    return cpus.length;
  }
  const ofNodes = await Promise.all(
    nodes.map(async (node) => {
      const directory = join(system, 'node', node);
      const cpus = (await namesIn(directory, CPU)).filter((name) => online === undefined || online.has(idOf(name)));
      const counted = await Promise.all(cpus.map((name) => hasTopology(join(directory, name))));
      return counted.filter(Boolean).length;
    }),
  );
  const count = ofNodes.reduce((sum, each) => sum + each, 0);
  if (count === 0) throw new Error(`${join(system, 'node')}: expected CPUs that are online, and there are none`);
  return count;
}

const idOf = (name: string): number => Number(/\d+/.exec(name)?.[0]);

/** The numbers in a list of the kernel such as `0,3-5`. Undefined on a kernel without CPU hotplug, where all CPUs are online. */
async function onlineIn(path: string): Promise<ReadonlySet<number> | undefined> {
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

/** Whether the kernel says which core and socket a CPU belongs to. cAdvisor does not count other CPUs. */
async function hasTopology(cpu: string): Promise<boolean> {
  const paths = ['core_id', 'physical_package_id'].map((file) => join(cpu, 'topology', file));
  const found = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  return found.every((each) => each !== undefined);
}

const namesIn = async (directory: string, pattern: RegExp): Promise<string[]> =>
  (await readdir(directory).catch(() => [])).filter((name) => pattern.test(name));
