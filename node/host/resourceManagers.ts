/** Builds the policies of the CPU and memory managers from the settings and the layout of the host. */

import type { CpuManagerConfig, MemoryManagerConfig } from '../../actors/node/nodeAgentConfig.ts';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { readCpuTopology } from '../../host/usage/cpuTopology.ts';
import { readNumaMemory } from '../../host/usage/numaMemory.ts';
import { createCpuPolicy } from '../../kubernetes/cpus/cpuPolicy.ts';
import { formatCpuSet, without } from '../../kubernetes/cpus/cpuSet.ts';
import { allCpus, type CpuTopology, partsOf } from '../../kubernetes/cpus/cpuTopology.ts';
import { createMemoryPolicy, type NumaNodeMemory } from '../../kubernetes/numaMemory/memoryAssignments.ts';
import { checkReservedMemory, type ReservedAmount } from '../../kubernetes/numaMemory/reservedMemory.ts';
import { evictionThreshold } from '../../kubernetes/resources/allocatable.ts';
import { amountOf } from '../../kubernetes/resources/resources.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';

/**
 * Returns the policies of the CPU manager, or undefined if no container gets exclusive CPUs. Rejects with the kubelet's
 * message if the settings do not fit the host.
 */
export async function readCpuManager(
  { resourceManagers, resources }: Pick<NodeConfig, 'resourceManagers' | 'resources'>,
  root?: string,
): Promise<CpuManagerConfig | undefined> {
  const { cpuPolicy, reservedCpus, topologyPolicy } = resourceManagers;
  if (cpuPolicy === undefined && topologyPolicy.name === 'none' && reservedCpus.length === 0) return undefined;
  try {
    const topology = await readCpuTopology(root);
    requireSupportedHost(topology, resourceManagers);
    if (cpuPolicy === undefined) return undefined;
    const { kubeReserved, systemReserved } = resources.reservedResources;
    const reservedMillis = [kubeReserved, systemReserved].reduce(
      (sum, requests) => sum + amountOf({ requests }, 'requests', 'cpu'),
      0,
    );
    const { options, reconcileMs } = cpuPolicy;
    return {
      topologyPolicy,
      cpuPolicy: createCpuPolicy(topology, options, { reservedMillis, reservedCpus }),
      reconcileMs,
    };
  } catch (cause) {
    throw new NodeFailure('InvalidConfig', messageOf(cause), { cause });
  }
}

/**
 * Returns the policies of the memory manager, or undefined if no container gets memory of its own. Rejects with the
 * kubelet's message if the settings do not fit the host.
 */
export async function readMemoryManager(
  { resourceManagers, resources }: Pick<NodeConfig, 'resourceManagers' | 'resources'>,
  root?: string,
): Promise<MemoryManagerConfig | undefined> {
  const { memoryReservations, topologyPolicy } = resourceManagers;
  if (memoryReservations === undefined) return undefined;
  try {
    const [nodes, { numaDistances }] = await Promise.all([readNumaMemory(root), readCpuTopology(root)]);
    if (nodes.length === 0) throw new Error('memoryManagerPolicy: Static needs a host that reports its NUMA nodes');
    checkReservedMemory(nodes, nodeReservedMemory(nodes, resources.reservedResources), memoryReservations);
    return { topologyPolicy, memoryPolicy: createMemoryPolicy(nodes, memoryReservations, numaDistances) };
  } catch (cause) {
    throw new NodeFailure('InvalidConfig', messageOf(cause), { cause });
  }
}

/** Returns the amounts of memory and huge pages that pods cannot use (`GetNodeAllocatableReservation`). */
function nodeReservedMemory(
  nodes: readonly NumaNodeMemory[],
  { kubeReserved, systemReserved, evictionHardMemory }: NodeConfig['resources']['reservedResources'],
): readonly ReservedAmount[] {
  const memoryBytes = nodes.reduce((sum, node) => sum + node.memoryBytes, 0);
  const resources = new Set(['memory', ...nodes.flatMap(({ hugePages }) => hugePages.map(({ resource }) => resource))]);
  const amounts = [...resources].flatMap((resource) =>
    [kubeReserved, systemReserved].map((requests) => {
      return { resource, bytes: amountOf({ requests }, 'requests', resource) };
    }),
  );
  return [...amounts, { resource: 'memory', bytes: evictionThreshold(evictionHardMemory, memoryBytes) }];
}

function requireSupportedHost(topology: CpuTopology, settings: NodeConfig['resourceManagers']): void {
  const { cpuPolicy, reservedCpus, topologyPolicy, maxNumaNodes } = settings;
  const unknownCpus = without(reservedCpus, allCpus(topology));
  if (unknownCpus.length > 0) {
    throw new Error(
      `reservedSystemCPUs: CPUs ${formatCpuSet(unknownCpus)} are not online; the host has ${formatCpuSet(allCpus(topology))}`,
    );
  }
  const numaNodeCount = partsOf(topology.cpus, 'numaNode').length;
  if (topologyPolicy.name !== 'none' && numaNodeCount > maxNumaNodes)
    throw new Error(`unsupported on machines with more than ${maxNumaNodes} NUMA Nodes`);
  const hasDistances = Object.values(topology.numaDistances ?? {}).every((each) => each.length > 0);
  if (topologyPolicy.name !== 'none' && topologyPolicy.prefersClosest && !(topology.numaDistances && hasDistances))
    throw new Error('cannot discover NUMA topology: error getting NUMA distances from cadvisor');
  if (cpuPolicy?.options.alignBySocket && topology.socketCount > numaNodeCount) {
    throw new Error(
      'new static policy error: Align by socket is not compatible with hardware where number of sockets are more than number of NUMA',
    );
  }
}
