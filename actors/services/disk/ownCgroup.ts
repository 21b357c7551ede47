/**
 * Decides whether a pod's cgroup belongs to this agent, because terminating the pod kills all processes in the cgroup.
 */
import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import type { Cgroups } from '../../../host/cgroup/cgroups.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { Ownership } from '../../store/ownership.ts';
import { listPodSandboxes } from '../sandboxes/listPodSandboxes.ts';

/** A pod with the IDs of the sandboxes that the runtime has run for it. */
export interface PodWithSandboxes {
  readonly pod: Pod;
  readonly ran: readonly string[];
}

/**
 * Whether this agent created or adopted the pod's cgroup. The pod's directory proves this, because it is created before
 * the cgroup and removed after it. A sandbox also proves it, because every pod with a sandbox had a directory. False if
 * another agent also has a sandbox of the pod.
 */
export async function isOwnCgroup(
  ownership: Pick<Ownership, 'owns' | 'hasCgroupAlone'>,
  { pod, ran }: PodWithSandboxes,
): Promise<boolean> {
  if (!ownership.hasCgroupAlone(pod.metadata.uid)) return false;
  return ran.length > 0 || (await ownership.owns(pod.metadata));
}

interface CgroupOwners {
  readonly cri: Pick<Cri, 'listPodSandbox'>;
  readonly ownership: Pick<Ownership, 'owns' | 'hasCgroupAlone' | 'observe'>;
  readonly cgroups?: Pick<Cgroups, 'mayBeShared'> | undefined;
}

/**
 * Whether all processes in the pod's cgroup may be killed, i.e. the cgroup is ours and no other agent has a sandbox of
 * the pod. If the cgroup may be shared, queries the runtime, because its last list may be outdated.
 */
export async function isSafeToKill(
  owners: CgroupOwners,
  { pod, ran }: PodWithSandboxes,
  options: CallOptions,
): Promise<boolean> {
  if (!(await isOwnCgroup(owners.ownership, { pod, ran }))) return false;
  return !(await owners.cgroups?.mayBeShared(pod)) || hasNoOtherOwner(owners, pod, options);
}

async function hasNoOtherOwner({ cri, ownership }: CgroupOwners, pod: Pod, options: CallOptions): Promise<boolean> {
  const { uid, namespace, name } = pod.metadata;
  const sandboxes = await listPodSandboxes(cri, uid, options);
  ownership.observe([{ uid, namespace, name, sandboxes, containers: [] }]);
  return ownership.hasCgroupAlone(uid);
}
