/**
 * The memory of a host by NUMA node, and the parts of it that are assigned exclusively to containers
 * (`pkg/kubelet/cm/memorymanager/state/state.go`).
 */
import { type CpuSet, isSameSet } from '../cpus/cpuSet.ts';

/** The memory of one kind on a NUMA node, in bytes. */
export interface MemoryTable {
  /** `memory`, or a size of huge pages, e.g. `hugepages-2Mi`. */
  readonly resource: string;
  readonly total: number;
  /** The part that the configuration reserves for the system. */
  readonly systemReserved: number;
  /** The part that can be assigned to containers. */
  readonly allocatable: number;
  /** The part that is assigned to containers. */
  readonly reserved: number;
  readonly free: number;
}

export interface MemoryNode {
  readonly id: number;
  /** Number of memory blocks on this node, including blocks that span several nodes. */
  readonly blockCount: number;
  /** The NUMA nodes that share the blocks on this node. Contains only this node unless blocks span several nodes. */
  readonly group: CpuSet;
  readonly tables: readonly MemoryTable[];
}

/** A container's memory of one kind. */
export interface MemoryBlock {
  readonly numaNodes: CpuSet;
  readonly resource: string;
  readonly bytes: number;
}

/** The memory of a container. */
export interface MemoryAssignment {
  readonly podUid: string;
  readonly container: string;
  readonly blocks: readonly MemoryBlock[];
  /**
   * Namespace and name of the pod. Undefined for an assignment from an earlier run of the agent until the pod is
   * admitted again.
   */
  readonly pod?: string;
}

export interface MemoryAssignments {
  readonly nodes: readonly MemoryNode[];
  readonly containers: readonly MemoryAssignment[];
}

/** The memory and huge pages of a NUMA node, in bytes. */
export interface NumaNodeMemory {
  readonly id: number;
  /** The memory of the node, including its huge pages. */
  readonly memoryBytes: number;
  readonly hugePages: readonly { readonly resource: string; readonly bytes: number }[];
}

/** An amount of memory that the configuration reserves on a NUMA node, in bytes. */
export interface MemoryReservation {
  readonly numaNode: number;
  readonly resource: string;
  readonly bytes: number;
}

/** The kubelet's static policy for memory. */
export interface MemoryPolicy {
  /** The state of the host's NUMA nodes without any containers. */
  readonly nodes: readonly MemoryNode[];
}

/**
 * Creates the static policy. Throws an error with the kubelet's message if nothing is reserved (`NewPolicyStatic` in
 * `policy_static.go`).
 */
export function createMemoryPolicy(
  nodes: readonly NumaNodeMemory[],
  reservations: readonly MemoryReservation[],
): MemoryPolicy {
  if (!reservations.some(({ resource, bytes }) => resource === 'memory' && bytes > 0))
    throw new Error('[memorymanager] you should specify the system reserved memory');
  return { nodes: nodes.map((node) => initialNode(node, reservations)) };
}

/**
 * Returns the state of a NUMA node without containers. Huge pages are not available as memory
 * (`getDefaultMachineState`).
 */
function initialNode(
  { id, memoryBytes, hugePages }: NumaNodeMemory,
  reservations: readonly MemoryReservation[],
): MemoryNode {
  const createTable = (resource: string, total: number, usable: number): MemoryTable => {
    const systemReserved = reservations
      .filter((each) => each.numaNode === id && each.resource === resource)
      .reduce((sum, { bytes }) => sum + bytes, 0);
    const allocatable = usable - systemReserved;
    return { resource, total, systemReserved, allocatable, reserved: 0, free: allocatable };
  };
  const hugePageBytes = hugePages.reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    id,
    blockCount: 0,
    group: [id],
    tables: [
      ...hugePages.map(({ resource, bytes }) => createTable(resource, bytes, bytes)),
      createTable('memory', memoryBytes, memoryBytes - hugePageBytes),
    ],
  };
}

export const initialMemoryAssignments = ({ nodes }: MemoryPolicy): MemoryAssignments => ({ nodes, containers: [] });

export const findMemory = (
  { containers }: MemoryAssignments,
  podUid: string,
  container: string,
): MemoryAssignment | undefined => containers.find((each) => each.podUid === podUid && each.container === container);

export const tableOf = ({ tables }: MemoryNode, resource: string): MemoryTable | undefined =>
  tables.find((each) => each.resource === resource);

/** Returns the blocks of memory that can be assigned to containers, including those that are currently assigned. */
export const allocatableMemory = ({ nodes }: MemoryPolicy): MemoryBlock[] =>
  nodes.flatMap(({ id, tables }) =>
    tables
      .filter(({ allocatable }) => allocatable > 0)
      .map(({ resource, allocatable }) => ({ numaNodes: [id], resource, bytes: allocatable })),
  );

/**
 * Takes memory for a block from the free memory of its nodes, in the order of the nodes (`updateMachineState`). `bytes`
 * is less than the size of the block if the block reuses memory of earlier containers.
 */
export function withBlock(
  nodes: readonly MemoryNode[],
  { numaNodes, resource, bytes }: MemoryBlock,
): readonly MemoryNode[] {
  return updateNodes(nodes, { numaNodes, resource, bytes }, (node, table, remainingBytes) => {
    const usedBytes = Math.max(0, Math.min(table?.free ?? 0, remainingBytes));
    return { node: { ...node, blockCount: node.blockCount + 1, group: numaNodes }, change: usedBytes };
  });
}

/** Returns the memory of a block to its nodes (`releaseMemory`). */
export function withoutBlock(nodes: readonly MemoryNode[], block: MemoryBlock): readonly MemoryNode[] {
  return updateNodes(nodes, block, (node, table, remainingBytes) => {
    const blockCount = node.blockCount - 1;
    const returned = Math.min(table?.reserved ?? 0, remainingBytes);
    return { node: { ...node, blockCount, group: blockCount === 0 ? [node.id] : node.group }, change: -returned };
  });
}

/**
 * Computes the change to one node of a block. `remainingBytes` is the part of the block that earlier nodes have not
 * covered. `change` is the number of bytes by which the reserved memory of the node grows, and is negative if it
 * shrinks.
 */
type MemoryNodeUpdate = (
  node: MemoryNode,
  table: MemoryTable | undefined,
  remainingBytes: number,
) => { readonly node: MemoryNode; readonly change: number };

function updateNodes(
  nodes: readonly MemoryNode[],
  { numaNodes, resource, bytes }: MemoryBlock,
  update: MemoryNodeUpdate,
): readonly MemoryNode[] {
  let remainingBytes = bytes;
  return nodes.map((each) => {
    if (!numaNodes.includes(each.id)) return each;
    const { node, change } = update(each, tableOf(each, resource), remainingBytes);
    remainingBytes -= Math.abs(change);
    const tables = node.tables.map((table) =>
      table.resource === resource ? { ...table, reserved: table.reserved + change, free: table.free - change } : table,
    );
    return { ...node, tables };
  });
}

/**
 * Returns the kubelet's message about persisted assignments that contradict the policy or the host (`validateState`).
 * Returns undefined if there is no contradiction.
 */
export function memoryProblem(policy: MemoryPolicy, { nodes, containers }: MemoryAssignments): string | undefined {
  if (nodes.length === 0) {
    return containers.length > 0
      ? '[memorymanager] machine state can not be empty when it has memory assignments'
      : undefined;
  }
  let expectedNodes = policy.nodes;
  for (const { podUid, container, blocks } of containers) {
    for (const block of blocks) {
      const where = `[memorymanager] (pod: ${podUid}, container: ${container}) the memory assignment uses`;
      for (const id of block.numaNodes) {
        const node = policy.nodes.find((each) => each.id === id);
        if (node === undefined) return `${where} the NUMA that does not exist`;
        if (tableOf(node, block.resource) === undefined) return `${where} memory resource that does not exist`;
      }
      expectedNodes = withBlock(expectedNodes, block);
    }
  }
  return areSameNodes(nodes, expectedNodes)
    ? undefined
    : '[memorymanager] the expected machine state is different from the real one';
}

/** Maximum change in the memory size of a NUMA node, in bytes, that is attributed to a reboot of the same host. */
const MAX_DRIFT_BYTES = 128 * 2 ** 20;

/**
 * Returns persisted assignments with the current memory sizes of the NUMA nodes. The amount of memory that the kernel
 * takes from each node varies slightly from boot to boot, and this variation prevents a kubelet with the Static policy
 * from starting (https://github.com/kubernetes/kubernetes/issues/131253). If a size has changed by more than
 * `MAX_DRIFT_BYTES`, if the assignments contradict the host in any other way, or if they no longer fit, returns them
 * unchanged, and `memoryProblem` reports them.
 */
export function withPresentSizes(policy: MemoryPolicy, assignments: MemoryAssignments): MemoryAssignments {
  if (memoryProblem(policy, assignments) === undefined) return assignments;
  const storedPolicy = { nodes: policy.nodes.map((node) => withStoredSize(node, assignments.nodes)) };
  if (memoryProblem(storedPolicy, assignments) !== undefined) return assignments;
  const blocks = assignments.containers.flatMap((container) => container.blocks);
  const nodes = blocks.reduce(withBlock, policy.nodes);
  return reservedBytes(nodes) === reservedBytes(assignments.nodes) ? { ...assignments, nodes } : assignments;
}

/**
 * Returns a node of the policy with its persisted memory size. Returns the node unchanged if the sizes differ by more
 * than `MAX_DRIFT_BYTES`.
 */
function withStoredSize(node: MemoryNode, storedNodes: readonly MemoryNode[]): MemoryNode {
  const stored = storedNodes.find(({ id }) => id === node.id);
  return {
    ...node,
    tables: node.tables.map((table) => {
      const drift = ((stored && tableOf(stored, 'memory'))?.total ?? table.total) - table.total;
      if (table.resource !== 'memory' || Math.abs(drift) > MAX_DRIFT_BYTES) return table;
      const { total, allocatable, free } = table;
      return { ...table, total: total + drift, allocatable: allocatable + drift, free: free + drift };
    }),
  };
}

const reservedBytes = (nodes: readonly MemoryNode[]): number =>
  nodes.flatMap(({ tables }) => tables).reduce((sum, { reserved }) => sum + reserved, 0);

/**
 * Whether two states of a host are equal. Free and reserved memory are compared per group of nodes, because the
 * distribution of blocks within a group depends on the order in which blocks were assigned and released
 * (`areMachineStatesEqual`).
 */
function areSameNodes(first: readonly MemoryNode[], second: readonly MemoryNode[]): boolean {
  if (first.length !== second.length) return false;
  return first.every((node) => {
    const other = second.find(({ id }) => id === node.id);
    if (other === undefined || node.blockCount !== other.blockCount || !isSameSet(node.group, other.group))
      return false;
    if (node.tables.length !== other.tables.length) return false;
    return node.tables.every((table) => {
      const { resource } = table;
      const otherTable = tableOf(other, resource);
      if (otherTable === undefined) return false;
      const sumOf = (nodes: readonly MemoryNode[], amount: 'free' | 'reserved') =>
        nodes
          .filter(({ id }) => node.group.includes(id))
          .reduce((sum, each) => sum + (tableOf(each, resource)?.[amount] ?? 0), 0);
      return (
        table.total === otherTable.total &&
        table.systemReserved === otherTable.systemReserved &&
        table.allocatable === otherTable.allocatable &&
        sumOf(first, 'free') === sumOf(second, 'free') &&
        sumOf(first, 'reserved') === sumOf(second, 'reserved')
      );
    });
  });
}
