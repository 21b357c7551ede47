import type { CallOptions, Cri } from './client/calls.ts';
import { labeledContainerName, POD_UID_LABEL } from './config/labels.ts';
import { ContainerState } from './generated/runtime.ts';

interface ContainerName {
  readonly podUid: string;
  readonly name: string;
}

/**
 * Returns the runtime's ID of the running container with the given name, or undefined if there is none. Like the
 * kubelet (`findContainer` in `pkg/kubelet/kubelet_pods.go`), lists the containers instead of using the pod's status,
 * because the status may lack the ID. This is the case during a postStart hook, and after a restart of the agent until
 * the pod has been adopted.
 */
export async function findRunningContainer(
  cri: Pick<Cri, 'listContainers'>,
  { podUid, name }: ContainerName,
  options: CallOptions,
): Promise<string | undefined> {
  const state = { state: ContainerState.CONTAINER_RUNNING };
  const filter = { id: '', podSandboxId: '', state, labelSelector: { [POD_UID_LABEL]: podUid } };
  const { containers } = await cri.listContainers({ filter }, options);
  const candidates = containers.filter((container) => labeledContainerName(container) === name);
  const [newest] = candidates.toSorted((a, b) => Number(b.createdAt - a.createdAt));
  return newest?.id;
}
