import { lookUp } from '../../../base/values/lookUp.ts';
import { parseCpuCheckpoint } from '../../../kubernetes/cpus/cpuCheckpoint.ts';
import { parseDeviceCheckpoint } from '../../../kubernetes/devices/deviceCheckpoint.ts';
import { NO_NUMA_NODE } from '../../../kubernetes/devices/devices.ts';
import { parseMemoryCheckpoint } from '../../../kubernetes/numaMemory/memoryCheckpoint.ts';
import { DEVICE_CHECKPOINT, NODE_PATHS } from '../run/nodeConfig.ts';
import type { Invariant, Watched } from './invariant.ts';

/** The NUMA nodes of one resource of a container. */
interface ResourceNodes {
  readonly podUid: string;
  readonly container: string;
  readonly nodes: readonly number[];
}

/** Returns the NUMA nodes of the exclusive CPUs, the memory and the devices of all containers, as stored on the disk. */
function resourceNodes({ host: { files }, managers }: Watched): ResourceNodes[] {
  const read = <T>(path: string, parse: (content: string) => readonly T[]): readonly T[] =>
    files.lstatSync(path) === undefined ? [] : parse(files.readFileSync(path));
  const { rootDir } = NODE_PATHS;
  const cpuInfos = managers.cpuManager?.cpuPolicy.topology.cpus ?? [];
  const nodeByCpu = Object.fromEntries(cpuInfos.map(({ cpu, numaNode }) => [cpu, numaNode]));
  const cpus = read(`${rootDir}/cpu_manager_state`, (content) => parseCpuCheckpoint(content, 'static').exclusive);
  const memory = read(
    `${rootDir}/memory_manager_state`,
    (content) => parseMemoryCheckpoint(content, 'Static').containers,
  );
  const devices = read(DEVICE_CHECKPOINT, (content) => parseDeviceCheckpoint(content).entries);
  const hostNodes = managers.topologyManager?.numaNodes.ids ?? [];
  return [
    ...cpus.map((each) => ({ ...each, nodes: each.cpus.flatMap((cpu) => lookUp(nodeByCpu, String(cpu)) ?? []) })),
    ...memory.map((each) => ({ ...each, nodes: each.blocks.flatMap(({ numaNodes }) => numaNodes) })),
    ...devices.map(({ podUid, container, devicesByNode }) => {
      const nodes = devicesByNode.map(({ numaNode }) => numaNode);
      // The topology manager ignores nodes that the host does not have.
      return { podUid, container, nodes: nodes.filter((node) => node !== NO_NUMA_NODE && hostNodes.includes(node)) };
    }),
  ];
}

export const numaAlignment: Invariant = {
  description:
    'Under the topology policy single-numa-node, the exclusive CPUs, the memory and the devices of a container are on ' +
    'one NUMA node, and with the scope pod those of all containers of a pod.',
  follow: (watched, violated) => {
    const { name, isPerPod = false } = watched.managers.topologyManager?.policy ?? {};
    if (name !== 'single-numa-node') return {};
    const look = () => {
      const nodesByOwner = new Map<string, Set<number>>();
      for (const { podUid, container, nodes } of resourceNodes(watched)) {
        const owner = isPerPod ? `pod ${podUid}` : `container ${container} of pod ${podUid}`;
        const ownerNodes = nodesByOwner.get(owner) ?? new Set();
        nodesByOwner.set(owner, new Set([...ownerNodes, ...nodes]));
      }
      for (const [owner, nodes] of nodesByOwner) {
        if (nodes.size > 1) violated(`${owner} has resources of the NUMA nodes ${[...nodes].sort().join()}`);
      }
    };
    return {
      onEffect: ({ kind }) => {
        if (kind === 'started') look();
      },
      whole: look,
      atRest: look,
    };
  },
};
