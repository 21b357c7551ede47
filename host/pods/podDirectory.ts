/** The folders of a pod: made before anything else of it, removed after everything else of it. */
import path from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import { containersOf } from '../../kubernetes/api/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { errorCode, isMissing, isTooLong } from '../files/fileErrors.ts';
import type { FileSystem } from '../files/fileSystem.ts';
import { isSafeSegment, type Layout, type PodIdentity, PRIVATE, READABLE } from './layout.ts';
import { isHalfDone, knownOwnerOf, type Maker, nameOfRemoved } from './podMark.ts';
import { hasOwnLogs } from './takePodDirectory.ts';

interface PodFolders {
  readonly pod: Pod;
  readonly layout: Layout;
  readonly signal: AbortSignal;
}

/** Makes what is below the pod's directory (0750), and its log directories, one a container (0755). Idempotent. */
export async function preparePodDirectory({ pod, layout, signal }: PodFolders): Promise<void> {
  signal.throwIfAborted();
  const { uid, namespace, name } = pod.metadata;
  const logDirs = Array.from(containersOf(pod.spec), ({ container }) =>
    layout.containerLogDir({ uid, namespace, name }, container.name),
  );
  await Promise.all([
    makeBelowPod(layout.files, layout.volumesDir(uid)),
    makeBelowPod(layout.files, layout.terminationLogsDir(uid)),
    ...logDirs.map((directory) =>
      makeBelowPod(layout.files, directory, READABLE).catch((error: unknown) => {
        // `requireLogDirectory` reports this with the sandbox.
        if (!isTooLong(error)) throw error;
      }),
    ),
  ]);
}

/** Makes the file that a run of a container may write its last words to (0666); `run` names the run. */
export async function makeTerminationLog(
  layout: Layout,
  { uid, container, run }: { readonly uid: string; readonly container: string; readonly run: string },
): Promise<string> {
  const file = layout.terminationLog(uid, container, run);
  const { files } = layout;
  await makeBelowPod(files, path.dirname(file)).catch(async (error: unknown) => {
    if (!isMissing(error)) throw error;
    // An earlier version of the agent made the directory above only now.
    await makeBelowPod(files, layout.terminationLogsDir(uid));
    await makeBelowPod(files, path.dirname(file));
  });
  const handle = await layout.files.open(file, 'a');
  try {
    await handle.chmod(0o666);
  } finally {
    await handle.close();
  }
  return file;
}

interface Removal {
  readonly layout: Layout;
  readonly maker: Maker;
  readonly signal: AbortSignal;
}

/** Lists the UIDs of the pods that have a directory, whoever made it. */
export async function podDirectories({ files, podsDir }: Layout): Promise<readonly string[]> {
  const entries = await files.readdir(podsDir).catch(noneIfMissing);
  return entries.filter(isSafeSegment);
}

/**
 * Deletes the directory of a pod that this agent made; fails with `FailedUnmount` while anything is mounted in it.
 * Idempotent.
 */
export async function removePodDirectory({ layout, maker, signal }: Removal, uid: string): Promise<void> {
  const { kind } = knownOwnerOf(layout.files, layout.podDir(uid), maker);
  if (kind === 'ours' || kind === 'missing') await removeMarked(layout.podDir(uid), { layout, maker, signal });
}

/** Deletes the logs of a pod, where this agent made their folder. Idempotent. */
export async function removePodLogs({ layout, maker, signal }: Removal, pod: PodIdentity): Promise<void> {
  if (hasOwnLogs({ layout, maker, pod })) await removeMarked(layout.podLogDir(pod), { layout, maker, signal });
}

/** Deletes a marked directory: under a name that says so, for once its mark is gone nothing else would. */
async function removeMarked(directory: string, { layout, maker, signal }: Removal): Promise<void> {
  const { files, underway } = layout;
  const removed = nameOfRemoved(directory, maker);
  underway.add(removed);
  try {
    // Deleting it may have begun before, and been cut off.
    await files.removeTree(removed, signal);
    await refuseMounts(files, directory, signal);
    await files.rename(directory, removed).catch(unlessMissing);
    await files.removeTree(removed, signal);
  } finally {
    underway.delete(removed);
  }
}

async function refuseMounts(files: FileSystem, directory: string, signal: AbortSignal): Promise<void> {
  const mounts = await files.mountsUnder(directory, signal);
  if (mounts.length === 0) return;
  const list = mounts.map((mount) => mount.path).join(', ');
  throw new NodeFailure('FailedUnmount', `not deleting ${directory}: still mounted: ${list}`);
}

/**
 * Deletes what was left in this directory when the making or removal of pods' directories, or of their logs, was cut off.
 * What cannot be deleted hinders nothing else: the answer is why, an error each.
 */
export async function removeHalfDone(
  directory: string,
  { layout: { files, underway }, maker, signal }: Removal,
): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  const names = await files.readdir(directory).catch(noneIfMissing);
  for (const each of names.map((name) => path.join(directory, name))) {
    if (!isHalfDone(each, maker) || underway.has(each)) continue;
    await files.removeTree(each, signal).catch((error: unknown) => void errors.push(error));
  }
  return errors;
}

/** Deletes the logs of one run of a container, also those that were rotated. Idempotent. */
export async function removeRunLogs(layout: Layout, pod: PodIdentity, container: string, run: number): Promise<void> {
  const directory = layout.containerLogDir(pod, container);
  const log = `${run}.log`;
  const names = await layout.files.readdir(directory).catch(noneIfMissing);
  const own = names.filter((name) => name === log || name.startsWith(`${log}.`));
  await Promise.all(own.map((name) => layout.files.rm(path.join(directory, name), { force: true })));
}

function noneIfMissing(error: unknown): string[] {
  if (isMissing(error)) return [];
  throw error;
}

function unlessMissing(error: unknown): void {
  if (!isMissing(error)) throw error;
}

/** Fails where the one above is missing: a call that hung must not bring back the directory of a pod that is gone. */
async function makeBelowPod(files: FileSystem, directory: string, mode = PRIVATE): Promise<void> {
  try {
    await files.mkdir(directory, { mode });
  } catch (error) {
    const isThere = errorCode(error) === 'EEXIST' && (await files.stat(directory)).isDirectory();
    if (!isThere) throw error;
  }
}
