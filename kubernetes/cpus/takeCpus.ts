/**
 * Chooses free CPUs for exclusive use, like the kubelet's static policy (`pkg/kubelet/cm/cpumanager/cpu_assignment.go`).
 */
import { type CpuSet, NO_CPUS, unionOf, visitCombinations } from './cpuSet.ts';
import {
  type CpuInfo,
  type CpuLevel,
  type CpuTopology,
  cpusIn,
  cpusPerCore,
  cpusPerSocket,
  cpusPerUncoreCache,
  partsOf,
  partsWithin,
} from './cpuTopology.ts';

/** Preferences for the choice of CPUs. */
export interface CpuChoice {
  /** Whether the CPUs are spread over as many cores as possible, instead of filling core after core. */
  readonly isSpreadOverCores: boolean;
  /** Whether to use as few last-level caches as possible. */
  readonly prefersUncoreCaches: boolean;
}

/** The chosen CPUs, or the reason why there are not enough CPUs. */
export type TakenCpus = { readonly cpus: CpuSet } | { readonly problem: string };

const notEnoughCpus = (count: number, available: CpuSet): TakenCpus => ({
  problem: `not enough cpus available to satisfy request: requested=${count}, available=${available.length}`,
});

/** Collects free CPUs until the requested number is reached. */
class CpuCollector {
  readonly #topology: CpuTopology;
  readonly #choice: CpuChoice;
  #free: readonly CpuInfo[];
  #assigned: CpuSet = NO_CPUS;
  #neededCount: number;

  constructor(topology: CpuTopology, available: CpuSet, count: number, choice: CpuChoice) {
    const members = new Set(available);
    this.#topology = topology;
    this.#choice = choice;
    this.#free = topology.cpus.filter(({ cpu }) => members.has(cpu));
    this.#neededCount = count;
  }

  get free(): readonly CpuInfo[] {
    return this.#free;
  }

  get assigned(): CpuSet {
    return this.#assigned;
  }

  get neededCount(): number {
    return this.#neededCount;
  }

  isDone(): boolean {
    return this.#neededCount < 1;
  }

  take(cpus: CpuSet): void {
    const members = new Set(cpus);
    this.#assigned = unionOf(this.#assigned, cpus);
    this.#free = this.#free.filter(({ cpu }) => !members.has(cpu));
    this.#neededCount -= cpus.length;
  }

  /** Whether NUMA nodes are the outer level, i.e. there are at least as many sockets as NUMA nodes. */
  #areNumaNodesOuter(): boolean {
    return this.#topology.socketCount >= partsOf(this.#topology.cpus, 'numaNode').length;
  }

  /** Sorts parts with free CPUs by the number of free CPUs, then by ID. */
  #sortByFreeCount(level: CpuLevel, ids: CpuSet): number[] {
    const freeCounts = new Map<number, number>();
    for (const each of this.#free) freeCounts.set(each[level], (freeCounts.get(each[level]) ?? 0) + 1);
    return [...ids].sort((a, b) => (freeCounts.get(a) ?? 0) - (freeCounts.get(b) ?? 0) || a - b);
  }

  /** Returns the parts at level `inner` in the order of the parts at level `outer` that contain them. */
  #sortWithin(inner: CpuLevel, outer: CpuLevel, outerIds: readonly number[]): number[] {
    return outerIds.flatMap((id) => this.#sortByFreeCount(inner, partsWithin(this.#free, inner, { level: outer, id })));
  }

  sortedNumaNodes(): number[] {
    return this.#areNumaNodesOuter()
      ? this.#sortByFreeCount('numaNode', partsOf(this.#free, 'numaNode'))
      : this.#sortWithin('numaNode', 'socket', this.#sortedSockets());
  }

  #sortedSockets(): number[] {
    return this.#areNumaNodesOuter()
      ? this.#sortWithin('socket', 'numaNode', this.sortedNumaNodes())
      : this.#sortByFreeCount('socket', partsOf(this.#free, 'socket'));
  }

  #sortedCores(): number[] {
    return this.#areNumaNodesOuter()
      ? this.#sortWithin('core', 'socket', this.#sortedSockets())
      : this.#sortWithin('core', 'numaNode', this.sortedNumaNodes());
  }

  #sortedCpus(): number[] {
    return this.#choice.isSpreadOverCores
      ? this.#sortedSockets().flatMap((id) => cpusIn(this.#free, 'socket', [id]))
      : this.#sortedCores().flatMap((id) => cpusIn(this.#free, 'core', [id]));
  }

  #freeCount(level: CpuLevel, id: number): number {
    return this.#free.filter((each) => each[level] === id).length;
  }

  /** Takes each part whose CPUs are all free, unless it has more CPUs than are still needed. */
  #takeWhole(level: CpuLevel, sortedIds: readonly number[], sizeOf: (whole: CpuSet) => number): void {
    const freeIds = sortedIds.filter(
      (id) => this.#freeCount(level, id) === sizeOf(cpusIn(this.#topology.cpus, level, [id])),
    );
    for (const id of freeIds) {
      const partCpus = cpusIn(this.#topology.cpus, level, [id]);
      if (this.#neededCount >= partCpus.length) this.take(partCpus);
    }
  }

  #takeNumaNodes(): void {
    this.#takeWhole('numaNode', this.sortedNumaNodes(), (whole) => whole.length);
  }

  #takeSockets(): void {
    this.#takeWhole('socket', this.#sortedSockets(), () => cpusPerSocket(this.#topology));
  }

  takeWholeNodesAndSockets(): void {
    const steps = [() => this.#takeNumaNodes(), () => this.#takeSockets()];
    for (const step of this.#areNumaNodesOuter() ? steps : steps.reverse()) {
      if (!this.isDone()) step();
    }
  }

  takeWholeCores(): void {
    this.#takeWhole('core', this.#sortedCores(), () => cpusPerCore(this.#topology));
  }

  #sortedUncoreCaches(): number[] {
    return this.#sortWithin('uncoreCache', 'numaNode', this.sortedNumaNodes());
  }

  takeUncoreCaches(): void {
    for (const id of this.#sortedUncoreCaches()) {
      if (this.#neededCount >= cpusPerUncoreCache(this.#topology))
        this.#takeWhole('uncoreCache', this.#sortedUncoreCaches(), (whole) => whole.length);
      if (this.isDone()) return;
      this.#takePartOfUncoreCache(id);
      if (this.isDone()) return;
    }
  }

  /**
   * Takes all CPUs that are still needed from this last-level cache. Takes none if the cache does not have enough free
   * CPUs.
   */
  #takePartOfUncoreCache(id: number): void {
    const coreSize = cpusPerCore(this.#topology);
    const neededCoreCount = Math.trunc((this.#neededCount + coreSize - 1) / coreSize);
    const cores = partsWithin(this.#free, 'core', { level: 'uncoreCache', id }).slice(0, neededCoreCount);
    const cpus = cpusIn(this.#free, 'core', cores);
    const isOdd = this.#neededCount % 2 !== 0 && coreSize > 1;
    const chosenCpus = isOdd && cpus.length > this.#neededCount ? cpus.slice(0, -1) : cpus;
    if (chosenCpus.length === this.#neededCount) this.take(chosenCpus);
  }

  takeSingleCpus(): void {
    for (const cpu of this.#sortedCpus()) {
      this.take([cpu]);
      if (this.isDone()) return;
    }
  }
}

/**
 * Takes CPUs so that as few NUMA nodes, sockets and cores as possible are used, and partly used ones are filled first.
 */
export function takePacked(topology: CpuTopology, available: CpuSet, count: number, choice: CpuChoice): TakenCpus {
  const collector = new CpuCollector(topology, available, count, choice);
  if (collector.isDone()) return { cpus: NO_CPUS };
  if (count > collector.free.length) return notEnoughCpus(count, available);
  const steps = [
    () => collector.takeWholeNodesAndSockets(),
    () => choice.prefersUncoreCaches && collector.takeUncoreCaches(),
    () => !choice.isSpreadOverCores && collector.takeWholeCores(),
    () => collector.takeSingleCpus(),
  ];
  for (const step of steps) {
    step();
    if (collector.isDone()) return { cpus: collector.assigned };
  }
  return { problem: 'failed to allocate cpus' };
}

/**
 * Takes CPUs evenly from the smallest possible number of NUMA nodes, in groups of `groupSize`. CPUs that cannot be
 * divided evenly are taken so that the free CPUs of all NUMA nodes stay balanced.
 */
export function takeDistributed(
  topology: CpuTopology,
  available: CpuSet,
  { count, groupSize }: { readonly count: number; readonly groupSize: number },
  { isSpreadOverCores }: Pick<CpuChoice, 'isSpreadOverCores'>,
): TakenCpus {
  const choice = { isSpreadOverCores, prefersUncoreCaches: false };
  if (count % groupSize !== 0) return takePacked(topology, available, count, choice);
  const collector = new CpuCollector(topology, available, count, choice);
  if (collector.isDone()) return { cpus: NO_CPUS };
  if (count > collector.free.length) return notEnoughCpus(count, available);
  const freeCounts = new Map<number, number>();
  for (const id of collector.sortedNumaNodes()) freeCounts.set(id, cpusIn(collector.free, 'numaNode', [id]).length);
  const { min, max } = nodeCountRange(topology, freeCounts.size, Math.ceil(count / groupSize), groupSize);
  for (let size = min; size <= max; size += 1) {
    const bestDistribution = bestNodes(freeCounts, { size, count, groupSize });
    if (bestDistribution === undefined) continue;
    const takeFromNode = (id: number, amount: number) => {
      const outcome = takePacked(topology, cpusIn(collector.free, 'numaNode', [id]), amount, choice);
      if ('cpus' in outcome) collector.take(outcome.cpus);
    };
    const share = evenShare(count, bestDistribution.nodes.length, groupSize);
    for (const id of bestDistribution.nodes) takeFromNode(id, share);
    let restCount = count - share * bestDistribution.nodes.length;
    while (restCount > 0) {
      const previousRest = restCount;
      for (const id of bestDistribution.restNodes) {
        if (restCount === 0) break;
        if (cpusIn(collector.free, 'numaNode', [id]).length < groupSize) continue;
        takeFromNode(id, groupSize);
        restCount -= groupSize;
      }
      if (restCount === previousRest) break;
    }
    if (collector.neededCount > 0)
      return { problem: `accounting error, not enough CPUs allocated, remaining: ${collector.neededCount}` };
    if (collector.neededCount < 0)
      return { problem: `accounting error, too many CPUs allocated, remaining: ${collector.neededCount}` };
    return { cpus: collector.assigned };
  }
  return takePacked(topology, available, count, choice);
}

/** Returns the lowest and highest number of NUMA nodes among which the needed groups of CPUs can be distributed. */
function nodeCountRange(topology: CpuTopology, freeNodeCount: number, neededGroups: number, groupSize: number) {
  const groups = Math.trunc((topology.cpus.length - 1) / groupSize) + 1;
  const groupsPerNode = Math.trunc((groups - 1) / partsOf(topology.cpus, 'numaNode').length) + 1;
  return {
    min: Math.trunc((neededGroups - 1) / groupsPerNode) + 1,
    max: Math.min(neededGroups, freeNodeCount),
  };
}

/** Returns the number of CPUs that each of the NUMA nodes contributes, a multiple of the group size. */
const evenShare = (count: number, nodeCount: number, groupSize: number): number =>
  Math.trunc(Math.trunc(count / nodeCount) / groupSize) * groupSize;

interface DistributionRequest {
  /** Number of NUMA nodes. */
  readonly size: number;
  readonly count: number;
  readonly groupSize: number;
}

interface Distribution {
  readonly nodes: readonly number[];
  /**
   * The nodes that provide the CPUs that cannot be divided evenly. One group is taken from each node, repeatedly if
   * necessary.
   */
  readonly restNodes: readonly number[];
}

/**
 * Returns the combination of NUMA nodes that leaves the free CPUs most evenly balanced across all nodes, or undefined
 * if no combination of this size has enough CPUs.
 */
function bestNodes(freeCounts: ReadonlyMap<number, number>, request: DistributionRequest): Distribution | undefined {
  const { size, count, groupSize } = request;
  let bestBalance = Number.MAX_VALUE;
  let bestDistribution: Distribution | undefined;
  visitCombinations([...freeCounts.keys()], size, (nodes) => {
    if (bestBalance === 0) return 'stop';
    const counts = nodes.map((id) => freeCounts.get(id) ?? 0);
    if (sum(counts) < count) return undefined;
    if (sum(counts.map((free) => Math.trunc(free / groupSize))) * groupSize < count) return undefined;
    const share = evenShare(count, nodes.length, groupSize);
    if (counts.some((free) => free < share)) return undefined;
    const remaining = new Map(freeCounts);
    for (const id of nodes) remaining.set(id, (remaining.get(id) ?? 0) - share);
    const { balance, restNodes } = distributeRest(remaining, nodes, count - share * nodes.length, groupSize);
    if (balance < bestBalance) {
      bestBalance = balance;
      bestDistribution = { nodes, restNodes };
    }
    return undefined;
  });
  return bestDistribution;
}

/**
 * Chooses the nodes for the CPUs that cannot be divided evenly. `balance` is the standard deviation of the free CPUs
 * per node afterwards, so lower is better.
 */
function distributeRest(
  remaining: ReadonlyMap<number, number>,
  nodes: readonly number[],
  restCount: number,
  groupSize: number,
): { readonly balance: number; readonly restNodes: readonly number[] } {
  if (restCount === 0) return { balance: standardDeviation([...remaining.values()]), restNodes: [] };
  const candidates = nodes.filter((id) => (remaining.get(id) ?? 0) >= groupSize);
  let bestDistribution = { balance: Number.MAX_VALUE, restNodes: [] as readonly number[] };
  for (let size = candidates.length; size >= 1; size -= 1) {
    visitCombinations(candidates, size, (restNodes) => {
      const counts = new Map(remaining);
      if (sum(restNodes.map((id) => counts.get(id) ?? 0)) < restCount) return undefined;
      let rest = restCount;
      while (rest > 0) {
        const previousRest = rest;
        for (const id of restNodes) {
          const free = counts.get(id) ?? 0;
          if (rest === 0) break;
          if (free < groupSize) continue;
          counts.set(id, free - groupSize);
          rest -= groupSize;
        }
        // Give up if a pass takes no CPUs, because the free CPUs of the remaining NUMA nodes do not form a whole group.
        if (rest === previousRest) return undefined;
      }
      const balance = standardDeviation([...counts.values()]);
      if (balance < bestDistribution.balance) bestDistribution = { balance, restNodes };
      return undefined;
    });
  }
  return bestDistribution;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

const roundToThousandths = (number: number): number => Math.round(number * 1_000) / 1_000;

function standardDeviation(numbers: readonly number[]): number {
  const mean = roundToThousandths(sum(numbers) / numbers.length);
  return roundToThousandths(Math.sqrt(sum(numbers.map((each) => (each - mean) ** 2)) / numbers.length));
}
