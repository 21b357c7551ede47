/**
 * Reads and writes the kubelet's checkpoint file of memory assignments, `memory_manager_state`
 * (`pkg/kubelet/cm/memorymanager/state`).
 */
import * as z from 'zod/mini';
import { quotedText } from '../../base/text/quotedText.ts';
import { fnv1a } from '../api/pods/containerHash.ts';
import { cpuSetOf } from '../cpus/cpuSet.ts';
import type { MemoryAssignment, MemoryAssignments, MemoryBlock, MemoryNode, MemoryTable } from './memoryAssignments.ts';

export type MemoryPolicyName = 'None' | 'Static';

const amountSchema = z.int().check(z.nonnegative());

const tableSchema = z.object({
  total: amountSchema,
  systemReserved: amountSchema,
  allocatable: amountSchema,
  reserved: amountSchema,
  free: amountSchema,
});
const nodeSchema = z.object({
  numberOfAssignments: z.int(),
  memoryMap: z.record(z.string(), tableSchema),
  cells: z.array(amountSchema),
});
const blockSchema = z.object({ numaAffinity: z.array(amountSchema), type: z.string(), size: amountSchema });
const checkpointSchema = z.object({
  policyName: z._default(z.string(), ''),
  machineState: z._default(z.record(z.string().check(z.regex(/^\d+$/)), nodeSchema), {}),
  entries: z._default(z.record(z.string(), z.record(z.string(), z.array(blockSchema))), {}),
  checksum: z._default(z.number(), 0),
});

type Checkpoint = z.infer<typeof checkpointSchema>;

/**
 * Parses a checkpoint. Throws an error with the kubelet's message if the file is damaged or was written under a
 * different policy.
 */
export function parseMemoryCheckpoint(text: string, policyName: MemoryPolicyName): MemoryAssignments {
  const checkpoint = checkpointSchema.parse(JSON.parse(text));
  // Ignore a missing checksum, as the kubelet does, because old versions wrote none.
  if (checkpoint.checksum !== 0 && checkpoint.checksum !== checksumOf(checkpoint))
    throw new Error('checkpoint is corrupted');
  if (checkpoint.policyName !== policyName) {
    throw new Error(
      `[memorymanager] configured policy ${quotedText(policyName)} differs from state checkpoint policy ${quotedText(checkpoint.policyName)}`,
    );
  }
  return {
    nodes: nodesOf(checkpoint).map(([id, { numberOfAssignments, cells, memoryMap }]): MemoryNode => {
      const tables = Object.entries(memoryMap).map(([resource, amounts]): MemoryTable => ({ resource, ...amounts }));
      return { id, blockCount: numberOfAssignments, group: cpuSetOf(cells), tables };
    }),
    containers: Object.entries(checkpoint.entries).flatMap(([podUid, containers]) =>
      Object.entries(containers).map(([container, blocks]): MemoryAssignment => {
        return { podUid, container, blocks: blocks.map(parseBlock) };
      }),
    ),
  };
}

const nodesOf = ({ machineState }: Checkpoint) =>
  Object.entries(machineState)
    .map(([id, node]) => [Number(id), node] as const)
    .sort(([first], [second]) => first - second);

const parseBlock = ({ numaAffinity, type, size }: z.infer<typeof blockSchema>): MemoryBlock => ({
  numaNodes: cpuSetOf(numaAffinity),
  resource: type,
  bytes: size,
});

/** Formats a checkpoint like the kubelet, with sorted keys and without white space. */
export function formatMemoryCheckpoint(policyName: MemoryPolicyName, { nodes, containers }: MemoryAssignments): string {
  const machineState = Object.fromEntries(
    nodes.map(({ id, blockCount, group, tables }) => {
      const memoryMap = tables.map(({ resource, total, systemReserved, allocatable, reserved, free }) => {
        return [resource, { total, systemReserved, allocatable, reserved, free }] as const;
      });
      const node = { numberOfAssignments: blockCount, memoryMap: sortedObject(memoryMap), cells: [...group] };
      return [String(id), node] as const;
    }),
  );
  const podUids = [...new Set(containers.map(({ podUid }) => podUid))];
  const entries = sortedObject(
    podUids.map((podUid) => {
      const assignments = containers.filter((each) => each.podUid === podUid);
      return [podUid, sortedObject(assignments.map(({ container, blocks }) => [container, blocks.map(formatBlock)]))];
    }),
  );
  const checkpoint = { policyName, machineState, entries, checksum: 0 };
  return JSON.stringify({
    policyName,
    machineState,
    ...(containers.length === 0 ? {} : { entries }),
    checksum: checksumOf(checkpoint),
  });
}

const formatBlock = ({ numaNodes, resource, bytes }: MemoryBlock) => ({
  numaAffinity: [...numaNodes],
  type: resource,
  size: bytes,
});

const sortedObject = <T>(entries: readonly (readonly [string, T])[]): Record<string, T> =>
  Object.fromEntries(sortedByName(entries));

const sortedByName = <T>(entries: readonly (readonly [string, T])[]): (readonly [string, T])[] =>
  entries.toSorted(([first], [second]) => (first < second ? -1 : 1));

/**
 * Returns the hash of a checkpoint's fields in the text form of `k8s.io/utils/dump`, with the type name that Kubernetes
 * used before 1.36.
 */
function checksumOf(checkpoint: Checkpoint): number {
  const { policyName, entries } = checkpoint;
  const nodes = nodesOf(checkpoint).map(([id, { numberOfAssignments, memoryMap, cells }]) => {
    const tables = dumpMap(
      memoryMap,
      ({ total, systemReserved, allocatable, reserved, free }) =>
        `<*>{TotalMemSize:(uint64)${total} SystemReserved:(uint64)${systemReserved} Allocatable:(uint64)${allocatable} Reserved:(uint64)${reserved} Free:(uint64)${free}}`,
    );
    return `${id}:<*>{NumberOfAssignments:(int)${numberOfAssignments} MemoryMap:(map[v1.ResourceName]*state.MemoryTable)${tables} Cells:([]int)[${cells.join(' ')}]}`;
  });
  const pods = dumpMap(entries, (containers) =>
    dumpMap(containers, (blocks) => `[${blocks.map(dumpBlock).join(' ')}]`),
  );
  return fnv1a(
    `(*state.MemoryManagerCheckpoint){PolicyName:(string)${policyName} MachineState:(state.NUMANodeMap)map[${nodes.join(' ')}] Entries:(state.ContainerMemoryAssignments)${pods} Checksum:(checksum.Checksum)0}`,
  );
}

const dumpMap = <T>(map: Readonly<Record<string, T>>, dump: (value: T) => string): string =>
  `map[${sortedByName(Object.entries(map))
    .map(([name, value]) => `${name}:${dump(value)}`)
    .join(' ')}]`;

const dumpBlock = ({ numaAffinity, type, size }: z.infer<typeof blockSchema>): string =>
  `{NUMAAffinity:([]int)[${numaAffinity.join(' ')}] Type:(v1.ResourceName)${type} Size:(uint64)${size}}`;
