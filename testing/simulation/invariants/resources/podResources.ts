/** Invariants that detect pods with more resources than the node has, and resizes that are not applied. */
import type { SimulatedContainer } from '../../../../cri/simulated/objects/views.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { cpuShares } from '../../../../kubernetes/resources/cgroup.ts';
import type { ContainerSize } from '../../../../kubernetes/resources/containerSize.ts';
import { requestsOf, resourceConflict } from '../../../../kubernetes/resources/requests.ts';
import { hasSameSize, type PodResources } from '../../../../kubernetes/resources/resize.ts';
import {
  ACTUATED_CHECKPOINT,
  ALLOCATED_CHECKPOINT,
  parseResourceCheckpoint,
  type ResourceCheckpoint,
} from '../../../../kubernetes/resources/resourceCheckpoint.ts';
import { containerSize } from '../../../../kubernetes/resources/resources.ts';
import { fullName, type SimulatedHost } from '../../host/host.ts';
import { NODE_PATHS } from '../../run/nodeConfig.ts';
import type { Invariant } from '../invariant.ts';

const readCheckpoint = ({ files }: SimulatedHost, name: string): ResourceCheckpoint => {
  const path = `${NODE_PATHS.rootDir}/${name}`;
  return files.lstatSync(path) === undefined ? new Map() : parseResourceCheckpoint(files.readFileSync(path));
};

/** Whether a pod holds admitted resources. */
const holdsResources = ({ status, metadata }: Pod): boolean =>
  status?.phase === 'Running' && metadata.deletionTimestamp === undefined;

export const allocatedWithinNode: Invariant = {
  description: 'The running pods never have more resources allocated than the node has.',
  follow: (watched, violated) => ({
    atRest: () => {
      const pods = (watched.agent?.pods() ?? []).filter(holdsResources);
      const [first, ...others] = pods.map(requestsOf);
      const conflict = first && resourceConflict(first, others, watched.capacity);
      if (conflict !== undefined) violated(`${pods.length} running pods: ${conflict.message}`);
    },
  }),
};

/** Returns the size of a container in a checkpoint, in which pod-level limits may replace its own. */
const sizeIn = ({ pod, containers }: PodResources, name: string): ContainerSize | undefined => {
  const resources = new Map(Object.entries(containers)).get(name);
  return resources && containerSize(pod === undefined ? {} : { resources: pod }, { resources });
};

/** Whether the runtime has applied the CPU shares and the memory limit of `size` to a container. */
const isApplied = ({ config: { linux } }: SimulatedContainer, { cpuRequest, memoryLimit }: ContainerSize): boolean => {
  const { cpuShares: shares = 0n, memoryLimitInBytes = 0n } = linux?.resources ?? {};
  return Number(shares) === cpuShares(cpuRequest) && Number(memoryLimitInBytes) === memoryLimit;
};

export const resizesApplied: Invariant = {
  description:
    'At rest, each running container has the resources that were allocated to it, and both checkpoints contain them.',
  follow: ({ host, podOf }, violated) => ({
    atRest: () => {
      const [allocated, actuated] = [ALLOCATED_CHECKPOINT, ACTUATED_CHECKPOINT].map((name) =>
        readCheckpoint(host, name),
      );
      for (const run of host.running()) {
        const { podUid, containerName } = run;
        const resources = allocated?.get(podUid);
        // The checkpoints do not contain the pods of other agents, and a terminating pod is no longer resized.
        if (resources === undefined || podOf(podUid)?.status?.phase !== 'Running') continue;
        const allocatedSize = sizeIn(resources, containerName);
        if (allocatedSize === undefined) continue;
        const name = `${fullName(run)} ${containerName}`;
        const actuatedSize = sizeIn(actuated?.get(podUid) ?? { containers: {} }, containerName);
        if (actuatedSize === undefined || !hasSameSize(actuatedSize, allocatedSize)) {
          violated(`${name} was allocated ${JSON.stringify(allocatedSize)} and has ${JSON.stringify(actuatedSize)}`);
        } else if (!isApplied(run, allocatedSize)) {
          violated(`${name} does not run with ${JSON.stringify(allocatedSize)}`);
        }
      }
    },
  }),
};
