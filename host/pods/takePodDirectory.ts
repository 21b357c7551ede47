/** Claims the directories of a pod and its logs for this agent, by creating them with a mark or by adding the mark. */

import { settleAll } from '../../base/async/settleAll.ts';
import { NodeFailure } from '../../base/failure.ts';
import { isTooLong } from '../files/fileErrors.ts';
import { type Layout, type PodIdentity, PRIVATE_MODE, READABLE_MODE } from './layout.ts';
import {
  createMarkedDirectory,
  type DirectoryOwner,
  type Maker,
  readOwner,
  requireOwner,
  writeMark,
} from './podMark.ts';

interface ClaimInput {
  readonly layout: Layout;
  readonly maker: Maker;
  readonly pod: PodIdentity;
}

export const readPodDirectoryOwner = (layout: Layout, maker: Maker, uid: string): DirectoryOwner =>
  readOwner(layout.files, layout.podDir(uid), maker);

/** Determines the owner of a pod's directory for a removal. Throws if it is temporarily unreadable. */
export const requirePodDirectoryOwner = (layout: Layout, maker: Maker, uid: string): DirectoryOwner =>
  requireOwner(layout.files, layout.podDir(uid), maker);

/**
 * Whether this agent created the log directory of a pod. Several agents may share the directory of all pod logs. Throws
 * if the pod's log directory is temporarily unreadable.
 */
export const hasOwnLogs = ({ layout, maker, pod }: ClaimInput): boolean =>
  requireOwner(layout.files, layout.podLogDir(pod), maker).kind === 'ours';

/**
 * Ensures that the directory of a pod has the mark of this agent, before anything else of the pod is created. If the
 * pod runs on this node's runtime (`runsHere`), an unmarked directory and its logs are adopted, and the function
 * returns the reason why the directory did not belong to this agent. Fails if either path belongs to a different agent
 * or is not a directory. Idempotent.
 */
export async function claimPodDirectory(
  claim: ClaimInput & { readonly runsHere?: boolean },
): Promise<string | undefined> {
  const { layout, maker, pod } = claim;
  const directory = layout.podDir(pod.uid);
  const owner = readOwner(layout.files, directory, maker);
  if (owner.kind === 'unusable' || owner.kind === 'others') throw createUnusableFailure(directory, owner.why);
  assertLogsUsable(claim, owner.kind === 'ours' ? ['unusable'] : ['unusable', 'others']);
  if (owner.kind === 'unmarked' && owner.isCutOff) {
    await writeMark(directory, { layout, maker, pod });
  } else if (owner.kind === 'unmarked') {
    if (claim.runsHere !== true) throw createUnusableFailure(directory, owner.why);
    await adoptPod(claim);
    await createLogDirectory(claim);
    return owner.why;
  } else if (owner.kind === 'missing') {
    // Create the two directories concurrently, because they are independent of each other.
    const [isCreated] = await settleAll([
      createMarkedDirectory(directory, { layout, maker, pod }, PRIVATE_MODE),
      createLogDirectory(claim),
    ]);
    // The owner must be determined again if another process has created the directory in the meantime.
    return isCreated ? undefined : claimPodDirectory(claim);
  } else if (owner.pod === undefined || !isSamePodName(owner.pod, pod)) {
    await writeMark(directory, { layout, maker, pod, isTakenOver: owner.isTakenOver });
  }
  await createLogDirectory(claim);
  return undefined;
}

/**
 * Adds the mark of this agent to the existing directory of a pod and to its log directory, if there is one. Replaces
 * the marks of other agents only if the pod is taken over.
 */
export async function adoptPod(claim: ClaimInput & { readonly isTakenOver?: boolean }): Promise<void> {
  const { layout, maker, pod, isTakenOver = false } = claim;
  const markDirectory = async (directory: string) => {
    const { kind } = readOwner(layout.files, directory, maker);
    if (kind === 'unmarked' || isTakenOver) await writeMark(directory, { layout, maker, pod, isTakenOver });
  };
  // Mark the log directory first, because its owner is not checked again once the pod's directory has the mark.
  const logsOwner = readOwner(layout.files, layout.podLogDir(pod), maker).kind;
  if (logsOwner === 'unmarked' || logsOwner === 'others') await markDirectory(layout.podLogDir(pod));
  await markDirectory(layout.podDir(pod.uid));
}

export const isSamePodName = (a: Pick<PodIdentity, 'namespace' | 'name'>, b: typeof a): boolean =>
  a.namespace === b.namespace && a.name === b.name;

function assertLogsUsable({ layout, maker, pod }: ClaimInput, kinds: readonly DirectoryOwner['kind'][]): void {
  const logDirectory = layout.podLogDir(pod);
  const owner = readOwner(layout.files, logDirectory, maker);
  if ('why' in owner && kinds.includes(owner.kind)) throw createUnusableFailure(logDirectory, owner.why);
}

/**
 * Creates the log directory of a pod. An existing one is used without changing its owner, except that a truncated mark
 * of this agent is rewritten. A name that is too long is not an error yet, because the kubelet reports it only when it
 * creates the sandbox (`requireLogDirectory`).
 */
async function createLogDirectory({ layout, maker, pod }: ClaimInput): Promise<void> {
  const logDirectory = layout.podLogDir(pod);
  const owner = readOwner(layout.files, logDirectory, maker);
  // An unusable path cannot get a mark, and without a mark it would not be removed with the pod.
  if (owner.kind === 'unusable') throw createUnusableFailure(logDirectory, owner.why);
  const isCutOff = owner.kind === 'unmarked' ? owner.isCutOff : owner.kind === 'ours' && owner.pod === undefined;
  if (isCutOff) await writeMark(logDirectory, { layout, maker, pod });
  if (owner.kind !== 'missing') return;
  await createMarkedDirectory(logDirectory, { layout, maker, pod }, READABLE_MODE).catch((error: unknown) => {
    if (!isTooLong(error)) throw error;
  });
}

/**
 * Fails if the name of the pod's log directory is too long for the file system, with the error of Go's mkdir
 * (`createPodSandbox` in `kuberuntime/kuberuntime_sandbox.go`).
 */
export async function requireLogDirectory(layout: Layout, pod: PodIdentity): Promise<void> {
  const logDirectory = layout.podLogDir(pod);
  await layout.files.lstat(logDirectory).catch((cause: unknown) => {
    if (!isTooLong(cause)) return;
    throw new NodeFailure('FailedCreatePodSandBox', `mkdir ${logDirectory}: file name too long`, { cause });
  });
}

function createUnusableFailure(directory: string, reason: string): NodeFailure {
  return new NodeFailure('FailedValidation', `${directory} cannot be used as a pod directory: ${reason}`);
}
