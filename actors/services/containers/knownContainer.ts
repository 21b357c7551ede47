/** Finds containers in the runtime, including those whose ID has changed. */
import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import { observedContainer } from '../../../cri/client/observe.ts';
import { CONTAINER_NAME_LABEL, POD_UID_LABEL } from '../../../cri/config/labels.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { hasChangedId } from '../../../kubernetes/lifecycle/changedId.ts';
import type { ObservedContainer } from '../../../kubernetes/lifecycle/observed.ts';
import type { KnownContainer } from '../../../machines/shared/ports.ts';
import { readContainer, type StatusDependencies } from './readContainer.ts';

/** Lists the pod's containers with the given name, including those of earlier attempts. */
export async function listRuns(cri: Cri, pod: Pod, name: string, options: CallOptions): Promise<ObservedContainer[]> {
  const labelSelector = { [POD_UID_LABEL]: pod.metadata.uid, [CONTAINER_NAME_LABEL]: name };
  const filter = { id: '', state: undefined, podSandboxId: '', labelSelector };
  const { containers } = await cri.listContainers({ filter }, options);
  return containers.map(observedContainer).filter((container) => container !== undefined);
}

/** Returns the new ID of a container that the runtime no longer lists under its previous ID. */
export async function findNewId(
  cri: Cri,
  knownContainer: KnownContainer,
  options: CallOptions,
): Promise<string | undefined> {
  const containerRuns = await listRuns(cri, knownContainer.pod, knownContainer.container, options);
  return containerRuns.find((shown) => hasChangedId(knownContainer, shown))?.id;
}

/** Reads a container under its known or changed ID. Returns null if the runtime does not have it. */
export async function readKnownContainer(
  dependencies: StatusDependencies,
  knownContainer: KnownContainer,
  options: CallOptions,
): Promise<ObservedContainer | null> {
  const container = await readContainer(dependencies, knownContainer, options);
  if (container !== null) return container;
  const id = await findNewId(dependencies.cri, knownContainer, options);
  return id === undefined ? null : readContainer(dependencies, { id }, options);
}
