/** Whose the cgroup of a pod is: at the end of the pod all that is in it is killed. */
import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import type { Cgroups } from '../../../host/cgroup/cgroups.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { Ownership } from '../../store/ownership.ts';
import { listPodSandboxes } from '../sandboxes/listPodSandboxes.ts';

/** A pod, with the sandboxes that the runtime has run of it. */
export interface RanPod {
  readonly pod: Pod;
  readonly ran: readonly string[];
}

/**
 * Whether the cgroup of this pod's name is one that this agent had made for it, or has adopted: the pod's directory is
 * made before it and removed after it, and who has a sandbox here has had one. Beside a sandbox of another agent it is not.
 */
export async function isOwnCgroup(
  ownership: Pick<Ownership, 'owns' | 'hasCgroupAlone'>,
  { pod, ran }: RanPod,
): Promise<boolean> {
  if (!ownership.hasCgroupAlone(pod.metadata.uid)) return false;
  return ran.length > 0 || (await ownership.owns(pod.metadata));
}

interface CgroupOwners {
  readonly cri: Pick<Cri, 'listPodSandbox'>;
  readonly ownership: Pick<Ownership, 'owns' | 'hasCgroupAlone' | 'see'>;
  readonly cgroups?: Pick<Cgroups, 'mayBeShared'> | undefined;
}

/**
 * Whether all that is in the pod's cgroup may be killed: it is ours, and another agent has no sandbox of the pod. Where there
 * is anything to kill the runtime is asked again, as its last list may be older.
 */
export async function isSafeToKill(owners: CgroupOwners, { pod, ran }: RanPod, options: CallOptions): Promise<boolean> {
  if (!(await isOwnCgroup(owners.ownership, { pod, ran }))) return false;
  return !(await owners.cgroups?.mayBeShared(pod)) || hasItAlone(owners, pod, options);
}

async function hasItAlone({ cri, ownership }: CgroupOwners, pod: Pod, options: CallOptions): Promise<boolean> {
  const { uid, namespace, name } = pod.metadata;
  const sandboxes = await listPodSandboxes(cri, uid, options);
  ownership.see([{ uid, namespace, name, sandboxes, containers: [] }]);
  return ownership.hasCgroupAlone(uid);
}
