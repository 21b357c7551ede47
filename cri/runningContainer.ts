/** Finds the running container of a pod at the runtime. */
import type { CallOptions, Cri } from './calls.ts';
import { ContainerState } from './generated/runtime.ts';
import { containerNameOf, POD_UID_LABEL } from './labels.ts';

interface ContainerName {
  readonly podUid: string;
  readonly name: string;
}

/**
 * Returns the runtime's ID of the running container with a name; undefined if there is none. A reported status does not
 * have it while a postStart hook runs, nor after a restart of the agent until its pod has been adopted, whereas a kubelet
 * lists the running containers (`findContainer` in `pkg/kubelet/kubelet_pods.go`).
 */
export async function runningContainer(
  cri: Pick<Cri, 'listContainers'>,
  { podUid, name }: ContainerName,
  options: CallOptions,
): Promise<string | undefined> {
  const state = { state: ContainerState.CONTAINER_RUNNING };
  const filter = { id: '', podSandboxId: '', state, labelSelector: { [POD_UID_LABEL]: podUid } };
  const { containers } = await cri.listContainers({ filter }, options);
  const named = containers.filter((container) => containerNameOf(container) === name);
  const [newest] = named.toSorted((one, other) => Number(other.createdAt - one.createdAt));
  return newest?.id;
}
