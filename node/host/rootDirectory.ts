import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { assertDirectoryOrMissing } from '../../host/files/expectDirectory.ts';
import { errorCode } from '../../host/files/fileErrors.ts';
import { createLayout } from '../../host/pods/layout.ts';

/**
 * Makes a directory with those above it, one by one: the recursive way of Node.js never ends below `/proc`, where what is
 * made one level up is still missing.
 */
async function make(directory: string): Promise<void> {
  const act = () =>
    mkdir(directory, { mode: 0o750 }).catch((error) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
  await act().catch(async (error) => {
    if (errorCode(error) !== 'ENOENT' || dirname(directory) === directory) throw error;
    await make(dirname(directory));
    await act();
  });
}

/** Sees to it that a directory of the agent's is there; throws a `NodeFailure` that names it when it cannot be made. */
export async function makeDirectory(directory: string): Promise<void> {
  await assertDirectoryOrMissing(directory);
  await make(resolve(directory)).catch((cause) => {
    throw new NodeFailure('RootDirectoryUnusable', `${directory} cannot be used: ${messageOf(cause)}`, { cause });
  });
}

/** What the first pod would stumble over is said at the start: the directories that are made for it. */
export async function expectPlaces(place: { rootDirectory: string; podLogsDirectory: string }): Promise<void> {
  const { rootDirectory: rootDir, podLogsDirectory: podLogsDir } = place;
  const { podsDir, logLinksDir } = createLayout({ rootDir, podLogsDir });
  for (const directory of [podsDir, podLogsDir, logLinksDir]) await assertDirectoryOrMissing(directory);
}
