import type { Cri } from '../../cri/client/calls.ts';
import { CONTAINER_NAME_LABEL, POD_UID_LABEL } from '../../cri/config/labels.ts';
import { Container } from '../../cri/generated/runtime.ts';

/** Returns a fake call that lists running containers of a pod. `ids` contains the container IDs by name. */
export function runningContainers(podUid: string, ids: Readonly<Record<string, string>>): Cri['listContainers'] {
  const containers = Object.entries(ids).map(([name, id]) =>
    Container.fromPartial({ id, labels: { [POD_UID_LABEL]: podUid, [CONTAINER_NAME_LABEL]: name } }),
  );
  return async () => ({ containers });
}
