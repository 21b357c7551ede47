/** What the runtime has of a container, also where it has come back with another id for it. */
import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import { observedContainer } from '../../../cri/client/observe.ts';
import { CONTAINER_NAME_LABEL, POD_UID_LABEL } from '../../../cri/config/labels.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { hasChangedId } from '../../../kubernetes/lifecycle/changedId.ts';
import type { ObservedContainer } from '../../../kubernetes/lifecycle/observed.ts';
import type { KnownContainer } from '../../../machines/shared/ports.ts';
import { readContainer } from './containerStatus.ts';

/** Every container of a name that the runtime has of a pod. */
export async function runsOf(cri: Cri, pod: Pod, name: string, options: CallOptions): Promise<ObservedContainer[]> {
  const labelSelector = { [POD_UID_LABEL]: pod.metadata.uid, [CONTAINER_NAME_LABEL]: name };
  const filter = { id: '', state: undefined, podSandboxId: '', labelSelector };
  const { containers } = await cri.listContainers({ filter }, options);
  return containers.map(observedContainer).filter((container) => container !== undefined);
}

/** The id under which the runtime has a container that it does not know under the one that is known, if it has it. */
export async function otherIdOf(cri: Cri, known: KnownContainer, options: CallOptions): Promise<string | undefined> {
  const all = await runsOf(cri, known.pod, known.container, options);
  return all.find((shown) => hasChangedId(known, shown))?.id;
}

/** Reads a container, under whichever id the runtime has it; null when it has it under none. */
export async function readKnown(
  parts: { readonly cri: Cri; readonly files: FileSystem },
  known: KnownContainer,
  options: CallOptions,
): Promise<ObservedContainer | null> {
  const shown = await readContainer(parts, known, options);
  if (shown !== null) return shown;
  const id = await otherIdOf(parts.cri, known, options);
  return id === undefined ? null : readContainer(parts, { id }, options);
}
