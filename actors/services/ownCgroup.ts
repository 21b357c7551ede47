/** Whose the cgroup of a pod is: at the end of the pod all that is in it is killed. */
import type { CallOptions, Cri } from '../../cri/calls.ts';
import type { Cgroups } from '../../host/cgroup/cgroups.ts';
import type { Pod } from '../../pod/api/schema/pod.ts';
import type { Ownership } from '../store/ownership.ts';
import { podSandboxes } from './podSandboxes.ts';

/** A pod, with the sandboxes that the runtime has run of it. */
interface RanPod {
  readonly pod: Pod;
  readonly ran: readonly string[];
}

/**
 * Whether the cgroup of this pod's name is one that this agent had made for it, or has adopted: the pod's directory is
 * made before it and removed after it, and who has a sandbox here has had one. Beside a sandbox of another agent it is not.
 */
export async function isOurs(
  ownership: Pick<Ownership, 'owns' | 'hasCgroupAlone'>,
  { pod, ran }: RanPod,
): Promise<boolean> {
  if (!ownership.hasCgroupAlone(pod.metadata.uid)) return false;
  return ran.length > 0 || (await ownership.owns(pod.metadata));
}

interface CgroupOwners<Asked extends keyof Cgroups> {
  readonly cri: Pick<Cri, 'listPodSandbox'>;
  readonly ownership: Pick<Ownership, 'owns' | 'hasCgroupAlone' | 'see'>;
  readonly cgroups?: Pick<Cgroups, Asked> | undefined;
}

/**
 * Whether the pod may have the cgroup of its name: there is none yet, or it is ours, or nobody's. One in which nothing
 * runs, of a pod that the runtime knows nothing of, is what an agent left that could not remove it.
 */
export async function mayHave(
  owners: CgroupOwners<'has' | 'isPopulated'>,
  { pod, ran }: RanPod,
  options: CallOptions,
): Promise<boolean> {
  const { ownership, cgroups } = owners;
  if (!cgroups?.has(pod) || (await isOurs(ownership, { pod, ran }))) return true;
  return !(await cgroups.isPopulated(pod)) && (await hasItAlone(owners, pod, options));
}

/** The same as it is now: where there is anything to kill, the runtime is asked again, as its last list may be older. */
export async function isOursAlone(
  owners: CgroupOwners<'mayBeShared'>,
  { pod, ran }: RanPod,
  options: CallOptions,
): Promise<boolean> {
  if (!(await isOurs(owners.ownership, { pod, ran }))) return false;
  return !(await owners.cgroups?.mayBeShared(pod)) || hasItAlone(owners, pod, options);
}

async function hasItAlone(
  { cri, ownership }: Pick<CgroupOwners<never>, 'cri' | 'ownership'>,
  pod: Pod,
  options: CallOptions,
): Promise<boolean> {
  const { uid, namespace, name } = pod.metadata;
  const sandboxes = await podSandboxes(cri, uid, options);
  ownership.see([{ uid, namespace, name, sandboxes, containers: [] }]);
  return ownership.hasCgroupAlone(uid);
}
