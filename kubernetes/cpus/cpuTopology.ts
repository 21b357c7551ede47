/** The layout of a host's logical CPUs (`pkg/kubelet/cm/cpumanager/topology/topology.go`). */
import { type CpuSet, cpuSetOf, unionOf } from './cpuSet.ts';
import type { NumaNodes } from './topologyHints.ts';

/** A logical CPU with the IDs of the core, cache, NUMA node and socket that contain it. */
export interface CpuInfo {
  readonly cpu: number;
  /** ID of the physical core, which is the lowest number of its CPUs and therefore unique on the host. */
  readonly core: number;
  readonly socket: number;
  readonly numaNode: number;
  /** ID of the last-level cache. On a host that does not report caches, this is the ID of the socket. */
  readonly uncoreCache: number;
}

export interface CpuTopology {
  readonly cpus: readonly CpuInfo[];
  readonly coreCount: number;
  readonly socketCount: number;
  /**
   * Distances from each NUMA node to the others, by node ID, as in the kernel's `distance` files. Includes nodes
   * without CPUs. Undefined if the host reports no NUMA nodes.
   */
  readonly numaDistances?: Readonly<Record<string, readonly number[]>>;
}

/** A level of the topology, named after the property of `CpuInfo` that identifies a part at this level. */
export type CpuLevel = 'core' | 'uncoreCache' | 'numaNode' | 'socket';

export const allCpus = ({ cpus }: Pick<CpuTopology, 'cpus'>): CpuSet => cpuSetOf(cpus.map(({ cpu }) => cpu));

/** Returns the CPUs of the cores, caches, NUMA nodes or sockets (`level`) with these IDs. */
export const cpusIn = (cpus: readonly CpuInfo[], level: CpuLevel, ids: readonly number[]): CpuSet =>
  cpuSetOf(cpus.filter((each) => ids.includes(each[level])).map(({ cpu }) => cpu));

/** Returns the IDs of the cores, caches, NUMA nodes or sockets (`level`) that contain any of these CPUs. */
export const partsOf = (cpus: readonly CpuInfo[], level: CpuLevel): CpuSet => cpuSetOf(cpus.map((each) => each[level]));

/**
 * Returns the IDs of the units of level `inner` that have CPUs in the unit `id` of level `outer`, e.g. the NUMA nodes
 * of a socket.
 */
export const partsWithin = (
  cpus: readonly CpuInfo[],
  inner: CpuLevel,
  { level: outer, id }: { readonly level: CpuLevel; readonly id: number },
): CpuSet =>
  partsOf(
    cpus.filter((each) => each[outer] === id),
    inner,
  );

/** Returns the NUMA nodes of the host, including those without CPUs. */
export const numaNodesOf = ({ cpus, numaDistances: distances }: CpuTopology): NumaNodes => {
  const ids = unionOf(partsOf(cpus, 'numaNode'), cpuSetOf(Object.keys(distances ?? {}).map(Number)));
  return distances === undefined ? { ids } : { ids, distances };
};

const cpusPerPart = (topology: CpuTopology, count: number): number =>
  count === 0 ? 0 : Math.trunc(topology.cpus.length / count);

/** Returns the mean number of logical CPUs per core, rounded down. */
export const cpusPerCore = (topology: CpuTopology): number => cpusPerPart(topology, topology.coreCount);

export const cpusPerSocket = (topology: CpuTopology): number => cpusPerPart(topology, topology.socketCount);

export const cpusPerUncoreCache = (topology: CpuTopology): number =>
  cpusPerPart(topology, partsOf(topology.cpus, 'uncoreCache').length);

/** Whether CPUs share one last-level cache. */
export function isInOneUncoreCache({ cpus }: CpuTopology, set: CpuSet): boolean {
  const members = new Set(set);
  return (
    partsOf(
      cpus.filter(({ cpu }) => members.has(cpu)),
      'uncoreCache',
    ).length <= 1
  );
}
