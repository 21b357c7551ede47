/** What runs on the node, as far as its samples have to know it. */
import type { Cri } from '../cri/calls.ts';
import { ContainerState, PodSandboxState } from '../cri/generated/runtime.ts';
import { containerNameOf } from '../cri/labels.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';

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
  /** Of its sandbox, in milliseconds since the epoch. */
  readonly createdAt: number;
  readonly containers: readonly RunningContainer[];
}

type ListCalls = Pick<Cri, 'listPodSandbox' | 'listContainers'>;

const milliseconds = (ns: bigint): number => Number(ns / 1_000_000n);
const ANY = { id: '', labelSelector: {} };

/** All sandboxes that are ready with their running containers, of whatever agent (`getPodAndContainerMaps` of a kubelet). */
export async function runningPods(
  cri: ListCalls,
  options: Parameters<Cri['listContainers']>[1],
): Promise<RunningPod[]> {
  const [{ items }, { containers }] = await Promise.all([
    cri.listPodSandbox({ filter: { ...ANY, state: { state: PodSandboxState.SANDBOX_READY } } }, options),
    cri.listContainers(
      { filter: { ...ANY, podSandboxId: '', state: { state: ContainerState.CONTAINER_RUNNING } } },
      options,
    ),
  ]);
  const inSandbox = Map.groupBy(containers, ({ podSandboxId }) => podSandboxId);
  return items.flatMap(({ id, metadata, createdAt }) => {
    if (metadata === undefined) return [];
    const { uid, name, namespace, attempt } = metadata;
    const own = (inSandbox.get(id) ?? []).map((container) => ({
      id: container.id,
      name: containerNameOf(container),
      image: container.image?.userSpecifiedImage || container.image?.image || '',
      attempt: container.metadata?.attempt ?? 0,
      createdAt: milliseconds(container.createdAt),
    }));
    return [{ uid, name, namespace, attempt, sandboxId: id, createdAt: milliseconds(createdAt), containers: own }];
  });
}

/** What ran when it was last told, of pods with their status: for want of a runtime that answers. Nothing is known of sandboxes. */
export function toldPods(pods: readonly Pod[]): RunningPod[] {
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
