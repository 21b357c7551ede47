/** Creates the directories of a pod before everything else that belongs to the pod, and removes them last. */
import path from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import { containersOf } from '../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { errorCode, isMissing, isTooLong } from '../files/fileErrors.ts';
import type { FileSystem } from '../files/fileSystem.ts';
import { isSafeSegment, type Layout, type PodIdentity, PRIVATE_MODE, READABLE_MODE } from './layout.ts';
import { isLeftover, type Maker, removedPath, requireOwner } from './podMark.ts';
import { hasOwnLogs } from './takePodDirectory.ts';

interface PodDirectoryInput {
  readonly pod: Pod;
  readonly layout: Layout;
  readonly signal: AbortSignal;
}

/**
 * Creates the subdirectories of the pod's directory (0750) and the log directories of its containers (0755).
 * Idempotent.
 */
export async function preparePodDirectory({ pod, layout, signal }: PodDirectoryInput): Promise<void> {
  signal.throwIfAborted();
  const { uid, namespace, name } = pod.metadata;
  const logDirs = Array.from(containersOf(pod.spec), ({ container }) =>
    layout.containerLogDir({ uid, namespace, name }, container.name),
  );
  await Promise.all([
    createSubdirectory(layout.files, layout.volumesDir(uid)),
    createSubdirectory(layout.files, layout.terminationLogsDir(uid)),
    ...logDirs.map((directory) =>
      createSubdirectory(layout.files, directory, READABLE_MODE).catch((error: unknown) => {
        // Ignore a name that is too long, because `requireLogDirectory` reports it when the sandbox is created.
        if (!isTooLong(error)) throw error;
      }),
    ),
  ]);
}

/**
 * Creates the termination log of a container run (0666) and returns its path. `run` distinguishes the runs of the
 * container.
 */
export async function createTerminationLog(
  layout: Layout,
  { uid, container, run }: { readonly uid: string; readonly container: string; readonly run: string },
): Promise<string> {
  const file = layout.terminationLog(uid, container, run);
  const { files } = layout;
  await createSubdirectory(files, path.dirname(file)).catch(async (error: unknown) => {
    if (!isMissing(error)) throw error;
    // Create the parent directory too, because earlier versions of the agent did not create it with the pod's
    // directory.
    await createSubdirectory(files, layout.terminationLogsDir(uid));
    await createSubdirectory(files, path.dirname(file));
  });
  const handle = await layout.files.open(file, 'a');
  try {
    await handle.chmod(0o666);
  } finally {
    await handle.close();
  }
  return file;
}

interface RemovalInput {
  readonly layout: Layout;
  readonly maker: Maker;
  readonly signal: AbortSignal;
}

/** Lists the UIDs of all pods with a directory, including those of other agents. */
export async function listPodDirectories({ files, podsDir }: Layout): Promise<readonly string[]> {
  const entries = await files.readdir(podsDir).catch(emptyIfMissing);
  return entries.filter(isSafeSegment);
}

/**
 * Deletes the directory of a pod if this agent created it. Fails with `FailedUnmount` while anything is mounted in it.
 * Idempotent.
 */
export async function removePodDirectory({ layout, maker, signal }: RemovalInput, uid: string): Promise<void> {
  const { kind } = requireOwner(layout.files, layout.podDir(uid), maker);
  if (kind === 'ours' || kind === 'missing') await removeMarkedDirectory(layout.podDir(uid), { layout, maker, signal });
}

/** Deletes the logs of a pod if this agent created their directory. Idempotent. */
export async function removePodLogs({ layout, maker, signal }: RemovalInput, pod: PodIdentity): Promise<void> {
  if (hasOwnLogs({ layout, maker, pod })) await removeMarkedDirectory(layout.podLogDir(pod), { layout, maker, signal });
}

/**
 * Deletes a marked directory. Renames it first, because a partly deleted directory that has lost its mark could not be
 * recognized.
 */
async function removeMarkedDirectory(directory: string, { layout, maker, signal }: RemovalInput): Promise<void> {
  const { files, inProgress } = layout;
  const removalPath = removedPath(directory, maker);
  inProgress.add(removalPath);
  try {
    // Delete the remains of an earlier deletion, which may have been interrupted.
    await files.removeTree(removalPath, signal);
    await assertNoMounts(files, directory, signal);
    await files.rename(directory, removalPath).catch(ignoreMissing);
    await files.removeTree(removalPath, signal);
  } finally {
    inProgress.delete(removalPath);
  }
}

async function assertNoMounts(files: FileSystem, directory: string, signal: AbortSignal): Promise<void> {
  const mounts = await files.mountsUnder(directory, signal);
  if (mounts.length === 0) return;
  const paths = mounts.map((mount) => mount.path).join(', ');
  throw new NodeFailure('FailedUnmount', `not deleting ${directory}: still mounted: ${paths}`);
}

/**
 * Deletes directories that remain from the interrupted creation or removal of pod directories or logs. Continues after
 * errors and returns them.
 */
export async function removeLeftovers(
  directory: string,
  { layout: { files, inProgress }, maker, signal }: RemovalInput,
): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  const names = await files.readdir(directory).catch(emptyIfMissing);
  for (const leftover of names.map((name) => path.join(directory, name))) {
    if (!isLeftover(leftover, maker) || inProgress.has(leftover)) continue;
    await files.removeTree(leftover, signal).catch((error: unknown) => void errors.push(error));
  }
  return errors;
}

/** Deletes the logs of a container run, including rotated ones. Idempotent. */
export async function removeRunLogs(layout: Layout, pod: PodIdentity, container: string, run: number): Promise<void> {
  const directory = layout.containerLogDir(pod, container);
  const log = `${run}.log`;
  const names = await layout.files.readdir(directory).catch(emptyIfMissing);
  const runLogs = names.filter((name) => name === log || name.startsWith(`${log}.`));
  await Promise.all(runLogs.map((name) => layout.files.rm(path.join(directory, name), { force: true })));
}

function emptyIfMissing(error: unknown): string[] {
  if (isMissing(error)) return [];
  throw error;
}

function ignoreMissing(error: unknown): void {
  if (!isMissing(error)) throw error;
}

/**
 * Creates a directory. Fails if its parent does not exist, because a call that was delayed must not recreate the
 * directory of a removed pod.
 */
async function createSubdirectory(files: FileSystem, directory: string, mode = PRIVATE_MODE): Promise<void> {
  try {
    await files.mkdir(directory, { mode });
  } catch (error) {
    const exists = errorCode(error) === 'EEXIST' && (await files.stat(directory)).isDirectory();
    if (!exists) throw error;
  }
}
