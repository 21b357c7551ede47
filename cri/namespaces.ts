import type { PodSpec } from '../kubernetes/api/schema/pod.ts';
import { type IDMapping, NamespaceMode, NamespaceOption } from './generated/runtime.ts';

/** Users and groups of the host that a pod has for itself: so many from `hostId` on. */
export interface UserRange {
  readonly hostId: number;
  readonly length: number;
}

/** Which Linux namespaces a pod's containers share with each other (POD) or with the host (NODE); `users` are its own. */
export function namespaceOptions(spec: PodSpec, users?: UserRange): NamespaceOption {
  const ids = users && mappingsOf(users);
  return NamespaceOption.fromPartial({
    network: spec.hostNetwork ? NamespaceMode.NODE : NamespaceMode.POD,
    ipc: spec.hostIPC ? NamespaceMode.NODE : NamespaceMode.POD,
    pid: pidMode(spec),
    usernsOptions: ids && { mode: NamespaceMode.POD, uids: ids, gids: ids },
  });
}

/** The same, but with the processes of the container that it looks into. */
export const besideTarget = (options: NamespaceOption, targetId: string): NamespaceOption => ({
  ...options,
  pid: NamespaceMode.TARGET,
  targetId,
});

/** The pod's users from 0 on are the host's of its range. */
export const mappingsOf = ({ hostId, length }: UserRange): IDMapping[] => [{ hostId, containerId: 0, length }];

function pidMode({ hostPID, shareProcessNamespace }: PodSpec): NamespaceMode {
  if (hostPID) return NamespaceMode.NODE;
  return shareProcessNamespace ? NamespaceMode.POD : NamespaceMode.CONTAINER;
}
