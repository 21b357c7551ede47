import type { PodSpec } from '../../kubernetes/api/schema/pod.ts';
import { type IDMapping, NamespaceMode, NamespaceOption } from '../generated/runtime.ts';

/** Range of host UIDs and GIDs that are mapped into a pod's user namespace: `length` IDs, starting at `hostId`. */
export interface UserRange {
  readonly hostId: number;
  readonly length: number;
}

/**
 * Returns the Linux namespaces that a pod's containers share with each other (POD) or with the host (NODE). `userRange` is
 * the pod's user namespace, if any.
 */
export function namespaceOptions(spec: PodSpec, userRange?: UserRange): NamespaceOption {
  const ids = userRange && idMappings(userRange);
  return NamespaceOption.fromPartial({
    network: spec.hostNetwork ? NamespaceMode.NODE : NamespaceMode.POD,
    ipc: spec.hostIPC ? NamespaceMode.NODE : NamespaceMode.POD,
    pid: pidMode(spec),
    usernsOptions: ids && { mode: NamespaceMode.POD, uids: ids, gids: ids },
  });
}

/** Replaces the PID namespace with that of a target container. */
export const withTargetPidNamespace = (options: NamespaceOption, targetId: string): NamespaceOption => ({
  ...options,
  pid: NamespaceMode.TARGET,
  targetId,
});

/** Returns the ID mappings of a pod, in which container ID 0 is the first host ID of the range. */
export const idMappings = ({ hostId, length }: UserRange): IDMapping[] => [{ hostId, containerId: 0, length }];

function pidMode({ hostPID, shareProcessNamespace }: PodSpec): NamespaceMode {
  if (hostPID) return NamespaceMode.NODE;
  return shareProcessNamespace ? NamespaceMode.POD : NamespaceMode.CONTAINER;
}
