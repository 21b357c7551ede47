/** Takes the directory of a pod, and with it the folder of its logs, for this agent: made with its mark, or given it. */

import { allDone } from '../../base/allDone.ts';
import { NodeFailure } from '../../base/failure.ts';
import { isTooLong } from '../files/fileErrors.ts';
import { type Layout, type PodIdentity, PRIVATE, READABLE } from './layout.ts';
import { type DirectoryOwner, knownOwnerOf, type Maker, makeMarked, ownerOf, writeMark } from './podMark.ts';

interface PodToTake {
  readonly layout: Layout;
  readonly maker: Maker;
  readonly pod: PodIdentity;
}

/** Whose the directory of a pod is. */
export const ownerOfPodDirectory = (layout: Layout, maker: Maker, uid: string): DirectoryOwner =>
  ownerOf(layout.files, layout.podDir(uid), maker);

/** The same for who removes what is of the pod: fails where that cannot be read. */
export const knownOwnerOfPodDirectory = (layout: Layout, maker: Maker, uid: string): DirectoryOwner =>
  knownOwnerOf(layout.files, layout.podDir(uid), maker);

/** Whether the folder of a pod's logs was made by this agent, as several may share the one above; fails where that cannot be read. */
export const hasOwnLogs = ({ layout, maker, pod }: PodToTake): boolean =>
  knownOwnerOf(layout.files, layout.podLogDir(pod), maker).kind === 'ours';

/**
 * Sees to it that a pod's directory bears the mark of this agent, before anything else of the pod is made. A directory
 * that is there without any mark is adopted with the logs of a pod that runs here: then the answer is why it was not this
 * agent's. Fails where the directory is somebody else's, or that of its logs, or no directory at all. Idempotent.
 */
export async function takePodDirectory(
  target: PodToTake & { readonly runsHere?: boolean },
): Promise<string | undefined> {
  const { layout, maker, pod } = target;
  const directory = layout.podDir(pod.uid);
  const found = ownerOf(layout.files, directory, maker);
  if (found.kind === 'unusable' || found.kind === 'others') throw unusable(directory, found.why);
  refuseLogs(target, found.kind === 'ours' ? ['unusable'] : ['unusable', 'others']);
  if (found.kind === 'unmarked' && found.isCutOff) {
    await writeMark(directory, { layout, maker, pod });
  } else if (found.kind === 'unmarked') {
    if (target.runsHere !== true) throw unusable(directory, found.why);
    await adoptPod(target);
    await makeLogs(target);
    return found.why;
  } else if (found.kind === 'missing') {
    // Neither tells whose the other is.
    const [isMade] = await allDone([makeMarked(directory, { layout, maker, pod }, PRIVATE), makeLogs(target)]);
    // What has come there meanwhile is looked at again.
    return isMade ? undefined : takePodDirectory(target);
  } else if (found.pod === undefined || !isNamed(found.pod, pod)) {
    await writeMark(directory, { layout, maker, pod, isTaken: found.isTaken });
  }
  await makeLogs(target);
  return undefined;
}

/**
 * Gives the directory of a pod, which is there, the mark of this agent, and the folder of its logs too, if there is one.
 * What another agent has marked is left as it is unless the pod is taken over.
 */
export async function adoptPod(target: PodToTake & { readonly isTaken?: boolean }): Promise<void> {
  const { layout, maker, pod, isTaken = false } = target;
  const mark = async (directory: string) => {
    const { kind } = ownerOf(layout.files, directory, maker);
    if (kind === 'unmarked' || isTaken) await writeMark(directory, { layout, maker, pod, isTaken });
  };
  // The logs first: of a pod whose directory bears the mark nobody asks again whose logs these are.
  const logs = ownerOf(layout.files, layout.podLogDir(pod), maker).kind;
  if (logs === 'unmarked' || logs === 'others') await mark(layout.podLogDir(pod));
  await mark(layout.podDir(pod.uid));
}

export const isNamed = (one: Pick<PodIdentity, 'namespace' | 'name'>, other: typeof one): boolean =>
  one.namespace === other.namespace && one.name === other.name;

function refuseLogs({ layout, maker, pod }: PodToTake, kinds: readonly DirectoryOwner['kind'][]): void {
  const logs = layout.podLogDir(pod);
  const found = ownerOf(layout.files, logs, maker);
  if ('why' in found && kinds.includes(found.kind)) throw unusable(logs, found.why);
}

/**
 * Creates the directory of the pod's logs. An existing one is used and remains its owner's; a damaged mark of this agent
 * is rewritten. A name that is too long for a directory is not an error yet, because a kubelet reports it only with the
 * pod's sandbox (`requireLogDirectory`).
 */
async function makeLogs({ layout, maker, pod }: PodToTake): Promise<void> {
  const logs = layout.podLogDir(pod);
  const found = ownerOf(layout.files, logs, maker);
  // Made without its mark it would outlive the pod.
  if (found.kind === 'unusable') throw unusable(logs, found.why);
  const isCutOff = found.kind === 'unmarked' ? found.isCutOff : found.kind === 'ours' && found.pod === undefined;
  if (isCutOff) await writeMark(logs, { layout, maker, pod });
  if (found.kind !== 'missing') return;
  await makeMarked(logs, { layout, maker, pod }, READABLE).catch((error: unknown) => {
    if (!isTooLong(error)) throw error;
  });
}

/**
 * Fails if the file system cannot store a name as long as that of the pod's log directory, with the error of Go's mkdir
 * (`createPodSandbox` in `kuberuntime/kuberuntime_sandbox.go`).
 */
export async function requireLogDirectory(layout: Layout, pod: PodIdentity): Promise<void> {
  const logs = layout.podLogDir(pod);
  await layout.files.lstat(logs).catch((cause: unknown) => {
    if (!isTooLong(cause)) return;
    throw new NodeFailure('FailedCreatePodSandBox', `mkdir ${logs}: file name too long`, { cause });
  });
}

function unusable(directory: string, why: string): NodeFailure {
  return new NodeFailure('FailedValidation', `${directory} cannot be used as a pod directory: ${why}`);
}
