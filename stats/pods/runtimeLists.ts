/** Lists the running pods and containers of the node. */
import type { Cri } from '../../cri/client/calls.ts';
import { labeledContainerName } from '../../cri/config/labels.ts';
import { ContainerState, PodSandboxState } from '../../cri/generated/runtime.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';

export interface RunningContainer {
  readonly id: string;
  readonly name: string;
  readonly image: string;
  readonly attempt: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

export interface RunningPod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly sandboxId: string;
  readonly attempt: number;
  /** Creation time of the sandbox, in milliseconds since the epoch. */
  readonly createdAt: number;
  readonly containers: readonly RunningContainer[];
}

type ListCalls = Pick<Cri, 'listPodSandbox' | 'listContainers'>;

const toMilliseconds = (ns: bigint): number => Number(ns / 1_000_000n);
const NO_FILTER = { id: '', labelSelector: {} };

/**
 * Returns all ready sandboxes with their running containers, including those of other agents (`getPodAndContainerMaps`
 * in the kubelet).
 */
export async function runningPods(
  cri: ListCalls,
  options: Parameters<Cri['listContainers']>[1],
): Promise<RunningPod[]> {
  const [{ items }, { containers }] = await Promise.all([
    cri.listPodSandbox({ filter: { ...NO_FILTER, state: { state: PodSandboxState.SANDBOX_READY } } }, options),
    cri.listContainers(
      { filter: { ...NO_FILTER, podSandboxId: '', state: { state: ContainerState.CONTAINER_RUNNING } } },
      options,
    ),
  ]);
  const containersBySandbox = Map.groupBy(containers, ({ podSandboxId }) => podSandboxId);
  return items.flatMap(({ id, metadata, createdAt }) => {
    if (metadata === undefined) return [];
    const { uid, name, namespace, attempt } = metadata;
    const runningContainers = (containersBySandbox.get(id) ?? []).map((container) => ({
      id: container.id,
      name: labeledContainerName(container),
      image: container.image?.userSpecifiedImage || container.image?.image || '',
      attempt: container.metadata?.attempt ?? 0,
      createdAt: toMilliseconds(container.createdAt),
    }));
    return [
      {
        uid,
        name,
        namespace,
        attempt,
        sandboxId: id,
        createdAt: toMilliseconds(createdAt),
        containers: runningContainers,
      },
    ];
  });
}

/**
 * Derives the running containers from the last statuses of the pods, for use while the runtime does not respond. The
 * sandbox IDs are unknown in this case.
 */
export function podsFromStatus(pods: readonly Pod[]): RunningPod[] {
  return pods.flatMap(({ metadata, spec, status }) => {
    const statuses = [status?.initContainerStatuses, status?.containerStatuses, status?.ephemeralContainerStatuses];
    const containers = statuses
      .flatMap((each) => each ?? [])
      .flatMap(({ name, containerID, restartCount, state }) => {
        const [, id] = /^[^:]+:\/\/(.+)$/.exec(containerID ?? '') ?? [];
        if (id === undefined || state?.running === undefined) return [];
        const image = spec.containers.find((each) => each.name === name)?.image ?? '';
        return [{ id, name, image, attempt: restartCount, createdAt: Date.parse(state.running.startedAt ?? '') || 0 }];
      });
    const { uid, name, namespace } = metadata;
    const createdAt = Date.parse(status?.startTime ?? '') || 0;
    return containers.length > 0 ? [{ uid, name, namespace, sandboxId: '', attempt: 0, createdAt, containers }] : [];
  });
}
