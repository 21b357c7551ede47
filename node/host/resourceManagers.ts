/** Builds the policies of the topology, CPU and memory managers from the settings and the layout of the host. */

import type { NodeAgentConfig } from '../../actors/node/nodeAgentConfig.ts';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { readCpuTopology } from '../../host/usage/cpuTopology.ts';
import { readNumaMemory } from '../../host/usage/numaMemory.ts';
import { createCpuPolicy } from '../../kubernetes/cpus/cpuPolicy.ts';
import { formatCpuSet, without } from '../../kubernetes/cpus/cpuSet.ts';
import { allCpus, type CpuTopology, numaNodesOf, partsOf } from '../../kubernetes/cpus/cpuTopology.ts';
import type { TopologyManager } from '../../kubernetes/cpus/topologyHints.ts';
import { createMemoryPolicy, type NumaNodeMemory } from '../../kubernetes/numaMemory/memoryAssignments.ts';
import { checkReservedMemory, type ReservedAmount } from '../../kubernetes/numaMemory/reservedMemory.ts';
import { evictionThreshold } from '../../kubernetes/resources/allocatable.ts';
import { amountOf } from '../../kubernetes/resources/resources.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';

type ManagerSettings = Pick<NodeConfig, 'resourceManagers' | 'resources'>;

type ResourceManagerConfig = Pick<NodeAgentConfig, 'topologyManager' | 'cpuManager' | 'memoryManager'>;

/**
 * Returns the configuration of the managers that the settings enable. Rejects with the kubelet's message if the settings
 * do not fit the host. `root` is the directory that contains `sys`.
 */
export async function readResourceManagers(settings: ManagerSettings, root?: string): Promise<ResourceManagerConfig> {
  const { cpuPolicy, reservedCpus, topology, memoryReservations } = settings.resourceManagers;
  const usesCpuTopology = cpuPolicy !== undefined || topology !== undefined || reservedCpus.length > 0;
  try {
    return {
      ...(usesCpuTopology ? cpuManagers(settings, await readCpuTopology(root)) : {}),
      ...(memoryReservations === undefined ? {} : memoryManager(settings, await readNumaMemory(root))),
    };
  } catch (cause) {
    throw new NodeFailure('InvalidConfig', messageOf(cause), { cause });
  }
}

/** Returns the configuration of the managers that depend on the layout of the host's CPUs. */
function cpuManagers(
  { resourceManagers, resources }: ManagerSettings,
  topology: CpuTopology,
): Pick<ResourceManagerConfig, 'topologyManager' | 'cpuManager'> {
  const { cpuPolicy, reservedCpus } = resourceManagers;
  const unknownCpus = without(reservedCpus, allCpus(topology));
  if (unknownCpus.length > 0) {
    throw new Error(
      `reservedSystemCPUs: CPUs ${formatCpuSet(unknownCpus)} are not online; the host has ${formatCpuSet(allCpus(topology))}`,
    );
  }
  const topologyManager = topologyManagerOf(resourceManagers, topology);
  const topologyConfig = topologyManager === undefined ? {} : { topologyManager };
  if (cpuPolicy === undefined) return topologyConfig;
  const { options, reconcileMs } = cpuPolicy;
  if (options.alignBySocket && topology.socketCount > partsOf(topology.cpus, 'numaNode').length) {
    throw new Error(
      'new static policy error: Align by socket is not compatible with hardware where number of sockets are more than number of NUMA',
    );
  }
  const { kubeReserved, systemReserved } = resources.reservedResources;
  const reservedMillis = [kubeReserved, systemReserved].reduce(
    (sum, requests) => sum + amountOf({ requests }, 'requests', 'cpu'),
    0,
  );
  const policy = createCpuPolicy(topology, options, { reservedMillis, reservedCpus });
  return { ...topologyConfig, cpuManager: { cpuPolicy: policy, reconcileMs } };
}

/**
 * Returns the topology policy with the NUMA nodes of the host (`NewManager` in
 * `pkg/kubelet/cm/topologymanager/topology_manager.go`). Returns undefined if the policy is `none`.
 */
function topologyManagerOf(
  { topology: settings }: NodeConfig['resourceManagers'],
  topology: CpuTopology,
): TopologyManager | undefined {
  if (settings === undefined) return undefined;
  const { policy, maxNumaNodes } = settings;
  const numaNodes = numaNodesOf(topology);
  const { ids, distances } = numaNodes;
  const hasDistances = distances !== undefined && Object.values(distances).every((each) => each.length > 0);
  if (policy.prefersClosest && !hasDistances)
    throw new Error('cannot discover NUMA topology: error getting NUMA distances from cadvisor');
  if (ids.length > maxNumaNodes) throw new Error(`unsupported on machines with more than ${maxNumaNodes} NUMA Nodes`);
  return { policy, numaNodes };
}

function memoryManager(
  { resourceManagers: { memoryReservations = [] }, resources }: ManagerSettings,
  nodes: readonly NumaNodeMemory[],
): Pick<ResourceManagerConfig, 'memoryManager'> {
  if (nodes.length === 0) throw new Error('memoryManagerPolicy: Static needs a host that reports its NUMA nodes');
  checkReservedMemory(nodes, nodeReservedMemory(nodes, resources.reservedResources), memoryReservations);
  return { memoryManager: { memoryPolicy: createMemoryPolicy(nodes, memoryReservations) } };
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
