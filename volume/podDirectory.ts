/** The folders of a pod: made before anything else of it, removed after everything else of it. */
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { containersOf } from '../pod/containers.ts';
import type { Pod } from '../pod/schema/pod.ts';
import { isMissing } from './fileErrors.ts';
import type { Layout, PodIdentity } from './layout.ts';
import { removeTree } from './removeTree.ts';

interface PodFolders {
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

/** Deletes the logs of one run of a container, also those that were rotated. Idempotent. */
export async function removeRunLogs(layout: Layout, pod: PodIdentity, container: string, run: number): Promise<void> {
  const directory = layout.containerLogDir(pod, container);
  const log = `${run}.log`;
  const names = await readdir(directory).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  const own = names.filter((name) => name === log || name.startsWith(`${log}.`));
  await Promise.all(own.map((name) => rm(path.join(directory, name), { force: true })));
}

async function makeDirectory(directory: string, mode: number): Promise<void> {
  await mkdir(directory, { recursive: true, mode });
}
