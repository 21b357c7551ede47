import type { PodSpec } from '../pod/schema/pod.ts';
import { NamespaceMode, NamespaceOption } from './generated/runtime.ts';

/** Which Linux namespaces a pod's containers share with each other (POD) or with the host (NODE). */
export function namespaceOptions(spec: PodSpec): NamespaceOption {
  return NamespaceOption.fromPartial({
    network: spec.hostNetwork ? NamespaceMode.NODE : NamespaceMode.POD,
    ipc: spec.hostIPC ? NamespaceMode.NODE : NamespaceMode.POD,
    pid: pidMode(spec),
  });
}

/** The same, but with the processes of the container that it looks into. */
export const besideTarget = (options: NamespaceOption, targetId: string): NamespaceOption => ({
  ...options,
  pid: NamespaceMode.TARGET,
  targetId,
});

function pidMode({ hostPID, shareProcessNamespace }: PodSpec): NamespaceMode {
  if (hostPID) return NamespaceMode.NODE;
  return shareProcessNamespace ? NamespaceMode.POD : NamespaceMode.CONTAINER;
}
