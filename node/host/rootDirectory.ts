import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { assertDirectoryOrMissing } from '../../host/files/assertDirectoryOrMissing.ts';
import { errorCode } from '../../host/files/fileErrors.ts';
import { createLayout } from '../../host/pods/layout.ts';

const DIRECTORY_MODE = 0o750;
/**
 * Mode of the parent of the root directory. If the agent runs a containerd of its own, the root file systems of
 * containers are below that parent, and the users of a pod with its own user namespace must be able to reach them.
 */
const PARENT_MODE = 0o711;

/**
 * Creates a directory and its parents one by one. The recursive `mkdir` of Node.js would never return for a path below
 * `/proc`, because each attempt fails with ENOENT although the parent exists.
 */
async function createWithParents(directory: string, mode = DIRECTORY_MODE): Promise<void> {
  const create = () =>
    mkdir(directory, { mode }).catch((error) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
  await create().catch(async (error) => {
    if (errorCode(error) !== 'ENOENT' || dirname(directory) === directory) throw error;
    await createWithParents(dirname(directory), PARENT_MODE);
    await create();
  });
}

/** Creates a directory of the agent unless it exists. Throws a `NodeFailure` if it cannot be created. */
export async function createDirectory(directory: string): Promise<void> {
  await assertDirectoryOrMissing(directory);
  await createWithParents(resolve(directory)).catch((cause) => {
    throw new NodeFailure('RootDirectoryUnusable', `${directory} cannot be used: ${messageOf(cause)}`, { cause });
  });
}

/**
 * Checks at the start of the agent that the directories for pods can be created, because otherwise the first pod would
 * fail.
 */
export async function assertPodDirectoriesUsable({
  rootDirectory: rootDir,
  podLogsDirectory: podLogsDir,
}: {
  rootDirectory: string;
  podLogsDirectory: string;
}): Promise<void> {
  const { podsDir, logLinksDir } = createLayout({ rootDir, podLogsDir });
  for (const directory of [podsDir, podLogsDir, logLinksDir]) await assertDirectoryOrMissing(directory);
}
