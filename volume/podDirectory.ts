/** The folders of a pod: made before anything else of it, removed after everything else of it. */
import { mkdir, open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { containersOf } from '../pod/containers.ts';
import type { Pod } from '../pod/schema/pod.ts';
import { isMissing } from './fileErrors.ts';
import { isSafeSegment, type Layout, type PodIdentity } from './layout.ts';
import { removeTree } from './removeTree.ts';

export interface PodFolders {
  readonly pod: Pod;
  readonly layout: Layout;
  readonly signal: AbortSignal;
}

const PRIVATE = 0o750;
const READABLE = 0o755;

/** Makes the pod's directories (0750) and its log directories, one a container (0755). Idempotent. */
export async function preparePodDirectory({ pod, layout, signal }: PodFolders): Promise<void> {
  signal.throwIfAborted();
  const { uid, namespace, name } = pod.metadata;
  const logDirs = Array.from(containersOf(pod.spec), ({ container }) =>
    layout.containerLogDir({ uid, namespace, name }, container.name),
  );
  await Promise.all([
    makeDirectory(layout.volumesDir(uid), PRIVATE),
    makeDirectory(layout.pluginsDir(uid), PRIVATE),
    ...logDirs.map((directory) => makeDirectory(directory, READABLE)),
  ]);
}

/** Makes the file that a run of a container may write its last words to (0666); `run` names the run. */
export async function makeTerminationLog(
  layout: Layout,
  { uid, container, run }: { readonly uid: string; readonly container: string; readonly run: string },
): Promise<string> {
  const file = layout.terminationLog(uid, container, run);
  await makeDirectory(path.dirname(file), PRIVATE);
  const handle = await open(file, 'a');
  try {
    await handle.chmod(0o666);
  } finally {
    await handle.close();
  }
  return file;
}

/** Deletes the pod's directory; fails with `FailedUnmount` while anything is mounted in it. Idempotent. */
export async function removePodDirectory(layout: Layout, uid: string, signal: AbortSignal): Promise<void> {
  await removeTree(layout.podDir(uid), signal);
}

/** Deletes the pod's logs. Idempotent. */
export async function removePodLogs(layout: Layout, pod: PodIdentity, signal: AbortSignal): Promise<void> {
  await removeTree(layout.podLogDir(pod), signal);
}

/** Lists the UIDs of the pods that have a directory: what a former run of the agent may have left. */
export async function podDirectories(layout: Layout): Promise<readonly string[]> {
  const entries = await entriesOf(layout.podsDir);
  return entries.filter(isSafeSegment);
}

/** Lists the volumes that a pod has directories for: plugin (`kubernetes.io/empty-dir`) and volume name. */
export async function volumeDirectories(
  layout: Layout,
  uid: string,
): Promise<readonly { readonly plugin: string; readonly volume: string }[]> {
  const root = layout.volumesDir(uid);
  const plugins = await entriesOf(root);
  const found = await Promise.all(
    plugins.map(async (folder) => {
      const names = await entriesOf(path.join(root, folder));
      return names.map((volume) => ({ plugin: folder.replaceAll('~', '/'), volume }));
    }),
  );
  return found.flat();
}

async function entriesOf(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function makeDirectory(directory: string, mode: number): Promise<void> {
  await mkdir(directory, { recursive: true, mode });
}
