/** CPU and memory layouts of real machines, which simulated nodes can have. */
import type { CpuManagerConfig, MemoryManagerConfig } from '../../../actors/node/nodeAgentConfig.ts';
import { type CpuPolicyOptions, createCpuPolicy } from '../../../kubernetes/cpus/cpuPolicy.ts';
import { cpuSetOf, parseCpuSet } from '../../../kubernetes/cpus/cpuSet.ts';
import { type CpuTopology, numaNodesOf } from '../../../kubernetes/cpus/cpuTopology.ts';
import type { TopologyManager, TopologyPolicyName } from '../../../kubernetes/cpus/topologyHints.ts';
import { createMemoryPolicy, type NumaNodeMemory } from '../../../kubernetes/numaMemory/memoryAssignments.ts';

/** The CPUs of each part of a host, in the list format of the kernel (`0-3,8`). */
interface Layout {
  readonly sockets: readonly string[];
  readonly numaNodes: readonly string[];
  /** IDs of the NUMA nodes. Undefined if they are numbered from 0. */
  readonly numaNodeIds?: readonly number[];
  /** One per last-level cache. Undefined if the whole host shares one. */
  readonly uncoreCaches?: readonly string[];
  /** The distance between the numbers of a core's two CPUs, or the CPUs of each core. Undefined without SMT. */
  readonly threads?: number | readonly string[];
  /** Memory of each NUMA node in GiB, including its huge pages. Undefined if no test needs it. */
  readonly memoryGib?: number;
  /** Huge pages of each NUMA node in GiB, by resource. */
  readonly hugePagesGib?: Readonly<Record<string, number>>;
  /** Number of cores, if it differs from the number of cores with listed CPUs. */
  readonly coreCount?: number;
}

/** Maps each CPU to the ID of the part that contains it. By default, the ID of a part is its index. */
const idByCpu = (parts: readonly (readonly number[])[], ids?: readonly number[]): ReadonlyMap<number, number> =>
  new Map(parts.flatMap((cpus, index) => cpus.map((cpu) => [cpu, ids?.[index] ?? index] as const)));

function coresOf({ sockets, threads }: Layout): (readonly number[])[] {
  const cpus = cpuSetOf(sockets.flatMap(parseCpuSet));
  if (threads === undefined) return cpus.map((cpu) => [cpu]);
  if (typeof threads !== 'number') return threads.map(parseCpuSet);
  return cpus.filter((cpu) => cpu % (2 * threads) < threads).map((cpu) => [cpu, cpu + threads]);
}

/** Builds the topology of a host from its layout. */
export function topologyOf(layout: Layout): CpuTopology {
  const { sockets, numaNodes, numaNodeIds, uncoreCaches = [], coreCount } = layout;
  const cores = coresOf(layout);
  const coreOf = idByCpu(cores);
  const socketOf = idByCpu(sockets.map(parseCpuSet));
  const nodeOf = idByCpu(numaNodes.map(parseCpuSet), numaNodeIds);
  const cacheOf = idByCpu(uncoreCaches.map(parseCpuSet));
  const cpus = cpuSetOf(sockets.flatMap(parseCpuSet)).map((cpu) => ({
    cpu,
    core: coreOf.get(cpu) ?? cpu,
    socket: socketOf.get(cpu) ?? 0,
    numaNode: nodeOf.get(cpu) ?? 0,
    uncoreCache: cacheOf.get(cpu) ?? 0,
  }));
  return { cpus, coreCount: coreCount ?? cores.length, socketCount: sockets.length };
}

/**
 * Returns `count` consecutive ranges of `size` CPUs. With `threadOffset`, each also contains the second threads of its
 * CPUs, whose numbers are higher by the offset.
 */
function ranges(count: number, size: number, threadOffset?: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const [first, last] = [index * size, (index + 1) * size - 1];
    return threadOffset === undefined
      ? `${first}-${last}`
      : `${first}-${last},${first + threadOffset}-${last + threadOffset}`;
  });
}

/** Returns the CPUs of one of two sockets whose CPUs are numbered alternately. */
const alternating = (socket: number, count: number): string =>
  Array.from({ length: count / 2 }, (_, index) => socket + 2 * index).join(',');

const layouts = {
  /** Raspberry Pi 4: four cores of a BCM2711. */
  raspberryPi: { sockets: ['0-3'], numaNodes: ['0-3'], memoryGib: 8 },
  /** Laptop with an Intel Core i5-8250U: four cores with two threads. */
  laptop: { sockets: ['0-7'], numaNodes: ['0-7'], threads: 4, memoryGib: 16 },
  /** AMD Ryzen 9 5950X: two chiplets, each with its own last-level cache. */
  ryzen: { sockets: ['0-31'], numaNodes: ['0-31'], uncoreCaches: ranges(2, 8, 16), threads: 16, memoryGib: 64 },
  /** Intel Core i9-12900K: eight cores with two threads, and eight with one. */
  hybrid: {
    sockets: ['0-23'],
    numaNodes: ['0-23'],
    threads: [...ranges(8, 2), ...Array.from({ length: 8 }, (_, index) => `${16 + index}`)],
    memoryGib: 64,
  },
  /** Two Intel Xeon E5-2680 v4, whose CPUs are numbered alternately. */
  xeonE5: {
    sockets: [alternating(0, 56), alternating(1, 56)],
    numaNodes: [alternating(0, 56), alternating(1, 56)],
    threads: 28,
    memoryGib: 128,
    hugePagesGib: { 'hugepages-1Gi': 16 },
  },
  /** Two Intel Xeon Gold 6230 with sub-NUMA clustering, i.e. two NUMA nodes per socket. */
  xeonGold: {
    sockets: ranges(2, 20, 40),
    numaNodes: ranges(4, 10, 40),
    threads: 40,
    memoryGib: 96,
    hugePagesGib: { 'hugepages-2Mi': 8 },
  },
  /** Two AMD EPYC 7742 with four NUMA nodes per socket (NPS4), and a last-level cache per four cores. */
  epycRome: {
    sockets: ranges(2, 64, 128),
    numaNodes: ranges(8, 16, 128),
    uncoreCaches: ranges(32, 4, 128),
    threads: 128,
    memoryGib: 64,
    hugePagesGib: { 'hugepages-2Mi': 4, 'hugepages-1Gi': 8 },
  },
  /** Two AMD EPYC 9654, with a last-level cache per eight cores. */
  epycGenoa: {
    sockets: ranges(2, 96, 192),
    numaNodes: ranges(2, 96, 192),
    uncoreCaches: ranges(24, 8, 192),
    threads: 192,
    memoryGib: 384,
  },
  /** AWS Graviton3: 64 cores without SMT. */
  graviton: { sockets: ['0-63'], numaNodes: ['0-63'], memoryGib: 128 },
  /** Two Ampere Altra Q80-30. */
  altra: { sockets: ranges(2, 80), numaNodes: ranges(2, 80), memoryGib: 256, hugePagesGib: { 'hugepages-2Mi': 16 } },
  /** Two IBM POWER9 with 20 cores of four threads, and the NUMA nodes 0 and 8. */
  power9: {
    sockets: ranges(2, 80),
    numaNodes: ranges(2, 80),
    numaNodeIds: [0, 8],
    threads: ranges(40, 4),
    memoryGib: 256,
    hugePagesGib: { 'hugepages-2Mi': 32 },
  },
} as const satisfies Record<string, Layout>;

export type SimulatedMachine = keyof typeof layouts;

export const SIMULATED_MACHINES: readonly SimulatedMachine[] = [
  'raspberryPi',
  'laptop',
  'ryzen',
  'hybrid',
  'xeonE5',
  'xeonGold',
  'epycRome',
  'epycGenoa',
  'graviton',
  'altra',
  'power9',
];

const machineTopology = (machine: SimulatedMachine): CpuTopology => topologyOf(layouts[machine]);

const GIB = 2 ** 30;

/** CPU reserved for the system on a simulated node, in millicores. */
const RESERVED_MILLIS = 1_000;

/** Interval between two checks of running containers, in milliseconds. */
const RECONCILE_MS = 10_000;

/** Returns the memory of each NUMA node of a machine. */
function machineMemory(machine: SimulatedMachine): readonly NumaNodeMemory[] {
  const layout: Layout = layouts[machine];
  const { numaNodes, numaNodeIds, memoryGib = 0, hugePagesGib = {} } = layout;
  return numaNodes.map((_, index) => ({
    id: numaNodeIds?.[index] ?? index,
    memoryBytes: memoryGib * GIB,
    hugePages: Object.entries(hugePagesGib).map(([resource, gib]) => ({ resource, bytes: gib * GIB })),
  }));
}

/** Returns the memory manager's configuration of a node on this machine, with 1 GiB reserved on its first NUMA node. */
export function simulatedMemoryManager(machine: SimulatedMachine): MemoryManagerConfig {
  const nodes = machineMemory(machine);
  const reservation = { numaNode: nodes[0]?.id ?? 0, resource: 'memory', bytes: GIB };
  return { memoryPolicy: createMemoryPolicy(nodes, [reservation]) };
}

/** Returns the CPU manager's configuration of a node on this machine, with the static policy and one reserved CPU. */
export const simulatedCpuManager = (machine: SimulatedMachine, options: CpuPolicyOptions = {}): CpuManagerConfig => ({
  cpuPolicy: createCpuPolicy(machineTopology(machine), options, { reservedMillis: RESERVED_MILLIS, reservedCpus: [] }),
  reconcileMs: RECONCILE_MS,
});

/** Returns the topology manager of a node on this machine. */
export const simulatedTopologyManager = (
  machine: SimulatedMachine,
  name: TopologyPolicyName,
  isPerPod = false,
): TopologyManager => ({
  policy: { name, isPerPod, prefersClosest: false },
  numaNodes: numaNodesOf(machineTopology(machine)),
});
