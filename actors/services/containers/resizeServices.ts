/**
 * Implements the port of an in-place resize. Containers are resized over the CRI, and the pod's cgroup through the
 * cgroup's files (`doPodResizeAction` in `pkg/kubelet/kuberuntime/kuberuntime_manager.go`).
 */

import { messageOf, NodeFailure } from '../../../base/failure.ts';
import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import { containerResources, sandboxOverhead, sandboxResources } from '../../../cri/config/linuxResources.ts';
import type { LinuxContainerResources } from '../../../cri/generated/runtime.ts';
import type { NodeDescription } from '../../../cri/nodeDescription.ts';
import type { Cgroups } from '../../../host/cgroup/cgroups.ts';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { resourcesOfSize } from '../../../kubernetes/resources/allocation.ts';
import type { ContainerSize } from '../../../kubernetes/resources/containerSize.ts';
import { hasSameAmounts, RESIZABLE_RESOURCES, type ResizableResource } from '../../../kubernetes/resources/resize.ts';
import { containerSize, podLimit, podRequest } from '../../../kubernetes/resources/resources.ts';
import type { PortTypes } from '../../../machines/shared/ports.ts';
import type { PortServices } from '../../boundary.ts';
import { findContainer } from './containers.ts';

export interface ResizeDependencies {
  readonly cri: Cri;
  readonly node: () => NodeDescription;
  readonly cgroups?: Cgroups | undefined;
}

type ResizeInput = PortTypes['resizePod']['input'];

/** A container with its current and its desired size. */
interface ContainerResize {
  readonly id: string;
  readonly container: Container;
  readonly size: ContainerSize;
  readonly desiredSize: ContainerSize;
  /** Whether the container's actual size may differ from `size`. */
  readonly isUncertain: boolean;
}

export function resizeServices({ cri, node, cgroups }: ResizeDependencies): Pick<PortServices, 'resizePod'> {
  /** Announces the new limits of the pod's cgroup to the runtime, and then applies them. */
  const changeCgroup = async (
    { pod, appliedPod = pod, sandboxId }: ResizeInput,
    resource: ResizableResource,
    { change, options }: { readonly change: 'raise' | 'trim'; readonly options: CallOptions },
  ): Promise<void> => {
    const announce = (cpuPod: Pod, memoryPod: Pod) =>
      announceLimits({ cri, node }, { pod, sandboxId, resources: sandboxLimits(cpuPod, memoryPod, node()) }, options);
    // Memory is changed before CPU, so the new CPU limits are announced only with the CPU change.
    await announce(resource === 'cpu' ? pod : appliedPod, pod).catch((cause: unknown) => {
      const prefix = `failed to notify runtime for UpdatePodSandboxResources (resource=${resource}); resize rejected`;
      rejectResize(cause, `${prefix}: `);
    });
    await cgroups?.[change](pod, resource).catch(async (cause: unknown) => {
      // Announce the previous limits again, so that the runtime does not expect limits that the cgroup does not have.
      // Ignore failures, because the first error is the one to report.
      await announce(appliedPod, resource === 'cpu' ? pod : appliedPod).catch(() => {});
      rejectResize(cause);
    });
  };

  return {
    resizePod: async (input, options) => {
      const { pod, appliedPod } = input;
      const resizes = input.containers.map(({ name, id, size, isUncertain = false }): ContainerResize => {
        const container = findContainer(pod, name);
        return { id, container, size, desiredSize: containerSize(pod.spec, container), isUncertain };
      });
      await requireHeadroom(cri, { input, resizes }, options);
      for (const resource of RESIZABLE_RESOURCES) {
        const changes = cgroupChanges(pod, appliedPod, resource);
        if (changes.raises) await changeCgroup(input, resource, { change: 'raise', options });
        for (const resize of inUpdateOrder(resizes, resource)) {
          const container = { ...resize.container, resources: resourcesAfter(resize, resource) };
          const linux = containerResources(pod, container, node());
          const request = { containerId: resize.id, linux, windows: undefined, annotations: {} };
          await cri.updateContainerResources(request, options).catch(rejectResize);
        }
        if (changes.lowers) await changeCgroup(input, resource, { change: 'trim', options });
      }
      return {
        pod,
        resized: resizes.map(({ id, container: { name }, desiredSize }) => ({ name, id, size: desiredSize })),
      };
    },
  };
}

/**
 * Returns whether the pod's cgroup needs a higher limit and whether it needs a lower limit for a resource. Both are
 * true if the current limits are unknown.
 */
function cgroupChanges(
  pod: Pod,
  appliedPod: Pod | undefined,
  resource: ResizableResource,
): { readonly raises: boolean; readonly lowers: boolean } {
  if (appliedPod === undefined) return { raises: true, lowers: true };
  const amountsOf = ({ spec }: Pod) => [
    podLimit(spec, resource) ?? Number.POSITIVE_INFINITY,
    // Ignore memory requests, because the kernel has no equivalent of them.
    resource === 'cpu' ? podRequest(spec, resource) : 0,
  ];
  const appliedAmounts = amountsOf(appliedPod);
  const isAny = (compare: (amount: number, applied: number) => boolean) =>
    amountsOf(pod).some((amount, index) => compare(amount, appliedAmounts[index] ?? 0));
  return { raises: isAny((amount, applied) => amount > applied), lowers: isAny((amount, applied) => amount < applied) };
}

/** Returns the containers whose amount of a resource changes or is unknown. Decreases come before increases. */
function inUpdateOrder(resizes: readonly ContainerResize[], resource: ResizableResource): readonly ContainerResize[] {
  const changedResizes = resizes.filter(
    ({ size, desiredSize, isUncertain }) => isUncertain || !hasSameAmounts(size, desiredSize, resource),
  );
  const [limit, request] = resource === 'cpu' ? CPU_FIELDS : MEMORY_FIELDS;
  const isDecrease = ({ size, desiredSize }: ContainerResize) =>
    desiredSize[limit] === size[limit]
      ? (desiredSize[request] ?? 0) < (size[request] ?? 0)
      : desiredSize[limit] < size[limit];
  return [...changedResizes.filter(isDecrease), ...changedResizes.filter((each) => !isDecrease(each))];
}

const CPU_FIELDS = ['cpuLimit', 'cpuRequest'] as const;
const MEMORY_FIELDS = ['memoryLimit', 'memoryRequest'] as const;

/**
 * Returns the resources of a container after one resource has been changed. Memory is changed first, so the container
 * still has its previous CPU resources at that point. Other resources, such as huge pages, are not changed.
 */
function resourcesAfter({ container, size, desiredSize }: ContainerResize, resource: ResizableResource) {
  const { cpuLimit, cpuRequest } = size;
  const amounts = resourcesOfSize(resource === 'cpu' ? desiredSize : { ...desiredSize, cpuLimit, cpuRequest });
  const { resources = {} } = container;
  return {
    ...resources,
    limits: { ...withoutResizable(resources.limits), ...amounts.limits },
    requests: { ...withoutResizable(resources.requests), ...amounts.requests },
  };
}

const withoutResizable = ({ cpu: _cpu, memory: _memory, ...others }: Readonly<Record<string, string>> = {}) => others;

/** Returns the limits of a sandbox with the CPU of one version of its pod and the memory of another. */
function sandboxLimits(cpuPod: Pod, memoryPod: Pod, description: NodeDescription): LinuxContainerResources {
  const { memoryLimitInBytes } = sandboxResources(memoryPod.spec, description);
  return { ...sandboxResources(cpuPod.spec, description), memoryLimitInBytes };
}

/** Announces the limits of a sandbox to the runtime. Does nothing if the runtime does not implement the call. */
async function announceLimits(
  { cri, node }: Pick<ResizeDependencies, 'cri' | 'node'>,
  { pod, sandboxId, resources }: SandboxLimits,
  options: CallOptions,
): Promise<void> {
  if (sandboxId === undefined) return;
  const request = { podSandboxId: sandboxId, overhead: sandboxOverhead(pod.spec, node()), resources };
  try {
    await cri.updatePodSandboxResources(request, options);
  } catch (error) {
    // Check the message too, because containerd 2.2 reports an unimplemented call only there.
    const isUnimplemented = error instanceof NodeFailure && error.reason === 'Unimplemented';
    if (!isUnimplemented && !/\bnot\s+implemented\b/.test(messageOf(error))) throw error;
  }
}

interface SandboxLimits {
  readonly pod: Pod;
  readonly sandboxId: string | undefined;
  readonly resources: LinuxContainerResources;
}

/**
 * Rejects memory limits below the current usage, because the kernel would kill processes (`validateMemoryResizeAction`
 * in `pkg/kubelet/kuberuntime/kuberuntime_manager.go`). Nothing is changed if any limit is too low.
 */
async function requireHeadroom(
  cri: Cri,
  { input, resizes }: { readonly input: ResizeInput; readonly resizes: readonly ContainerResize[] },
  options: CallOptions,
): Promise<void> {
  const { pod, appliedPod, sandboxId } = input;
  const newPodLimit = podLimit(pod.spec, 'memory');
  const appliedPodLimit = (appliedPod && podLimit(appliedPod.spec, 'memory')) ?? Number.POSITIVE_INFINITY;
  const lowersPodLimit = newPodLimit !== undefined && newPodLimit < appliedPodLimit;
  const loweredResizes = resizes.filter(
    ({ size: { memoryLimit }, desiredSize: { memoryLimit: newLimit }, isUncertain }) =>
      newLimit > 0 && (isUncertain || memoryLimit === 0 || newLimit < memoryLimit),
  );
  if (!lowersPodLimit && loweredResizes.length === 0) return;
  const filter = { id: '', podSandboxId: sandboxId ?? '', labelSelector: {} };
  const { stats } = await cri.listContainerStats({ filter }, options).catch(rejectResize);
  const usageById = new Map(
    stats.map(({ attributes, memory }) => [attributes?.id ?? '', Number(memory?.usageBytes?.value ?? 0n)]),
  );
  const podUsage = [...usageById.values()].reduce((sum, bytes) => sum + bytes, 0);
  // The page cache alone can fill the memory up to the current limit, so a usage equal to the limit is only too high if
  // the limit has not been applied yet.
  const isTooLow = (limit: number, usage: number, isUnknown: boolean) => (isUnknown ? usage > limit : usage >= limit);
  const problems = [
    ...(lowersPodLimit && isTooLow(newPodLimit, podUsage, appliedPod === undefined)
      ? [`attempting to set pod memory limit (${newPodLimit}) below current usage (${podUsage})`]
      : []),
    ...loweredResizes.flatMap(({ id, container: { name }, desiredSize: { memoryLimit }, isUncertain }) => {
      const usage = usageById.get(id) ?? 0;
      return !isTooLow(memoryLimit, usage, isUncertain)
        ? []
        : [`attempting to set container "${name}" memory limit (${memoryLimit}) below current usage (${usage})`];
    }),
  ];
  if (problems.length === 0) return;
  const text = problems.length === 1 ? problems.join() : `[${problems.join(', ')}]`;
  throw new NodeFailure('ResizePodInPlaceError', `cannot decrease memory limits: ${text}`);
}

function rejectResize(cause: unknown, prefix = ''): never {
  if (cause instanceof NodeFailure && cause.reason === 'RuntimeUnavailable') throw cause;
  throw new NodeFailure('ResizePodInPlaceError', `${prefix}${messageOf(cause)}`, { cause });
}
