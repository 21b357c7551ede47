import type { SimulatedContainer } from '../../../cri/simulated/objects/views.ts';
import { unionOf } from '../../../kubernetes/cpus/cpuSet.ts';
import { findMemory, type MemoryAssignments, tableOf } from '../../../kubernetes/numaMemory/memoryAssignments.ts';
import { parseMemoryCheckpoint } from '../../../kubernetes/numaMemory/memoryCheckpoint.ts';
import { fullName, type SimulatedHost } from '../host/host.ts';
import { NODE_PATHS } from '../run/nodeConfig.ts';
import type { Invariant } from './invariant.ts';

/** Returns the memory assignments in the checkpoint on disk, or undefined if the node does not assign memory. */
function assignmentsOnDisk({ files }: SimulatedHost): MemoryAssignments | undefined {
  const path = `${NODE_PATHS.rootDir}/memory_manager_state`;
  return files.lstatSync(path) === undefined ? undefined : parseMemoryCheckpoint(files.readFileSync(path), 'Static');
}

const memoryNodesOf = ({ config }: SimulatedContainer): string => config.linux?.resources?.cpusetMems ?? '';

const nameOf = (each: SimulatedContainer): string => `${fullName(each)} ${each.containerName}`;

/** Returns a description of each group of NUMA nodes whose amounts contradict the memory blocks of the containers. */
function wrongAmounts({ nodes, containers }: MemoryAssignments): string[] {
  const blocks = containers.flatMap((each) => each.blocks);
  return nodes.flatMap(({ group, tables }) =>
    tables.flatMap(({ resource }) => {
      const members = nodes.filter(({ id }) => group.includes(id)).map((node) => tableOf(node, resource));
      const sumOf = (amount: 'allocatable' | 'reserved' | 'free') =>
        members.reduce((sum, table) => sum + (table?.[amount] ?? 0), 0);
      const assignedBytes = blocks
        .filter((block) => block.resource === resource && block.numaNodes.some((id) => group.includes(id)))
        .reduce((sum, { bytes }) => sum + bytes, 0);
      const [allocatable, reserved, free] = [sumOf('allocatable'), sumOf('reserved'), sumOf('free')];
      const isRight = assignedBytes === reserved && reserved + free === allocatable && free >= 0;
      const amounts = `${assignedBytes} bytes assigned, ${reserved} reserved, ${free} free of ${allocatable}`;
      return isRight ? [] : [`NUMA nodes ${group.join()} have ${amounts} of ${resource}`];
    }),
  );
}

export const numaMemory: Invariant = {
  description:
    'Containers never have more memory of a NUMA node than it has, and a running container keeps its NUMA nodes, also ' +
    'when the agent restarts.',
  follow: ({ host }, violated) => {
    /** NUMA nodes of running containers, by container ID. */
    const previousNodes = new Map<string, string>();
    const check = () => {
      const assignments = assignmentsOnDisk(host);
      if (assignments === undefined) return;
      for (const each of wrongAmounts(assignments)) violated(each);
      for (const each of host.running()) {
        const assignment = findMemory(assignments, each.podUid, each.containerName);
        if (assignment === undefined) continue;
        const nodes = memoryNodesOf(each);
        const previous = previousNodes.get(each.id) ?? nodes;
        previousNodes.set(each.id, nodes);
        if (previous !== nodes)
          violated(`${nameOf(each)} had memory of the NUMA nodes ${previous} and now of ${nodes}`);
        const assignedNodes = unionOf(...assignment.blocks.map(({ numaNodes }) => numaNodes)).join();
        if (nodes !== assignedNodes)
          violated(`${nameOf(each)} uses memory of the NUMA nodes ${nodes} instead of ${assignedNodes}`);
      }
    };
    return {
      onEffect: ({ kind }) => {
        if (kind === 'started') check();
      },
      whole: check,
      atRest: check,
    };
  },
};
