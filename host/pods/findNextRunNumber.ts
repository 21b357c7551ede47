/**
 * Derives the number of a container's earlier runs from its logs, for use when the runtime has no record of them (C23).
 */
import { isMissing } from '../files/fileErrors.ts';
import type { FileSystem } from '../files/fileSystem.ts';

/** Names of logs such as `3.log` and of their rotated files. */
const LOG_NAME_PATTERN = /^(\d+)\.log(\..*)?/;
/** Maximum number of restarts, because the runtime stores the attempt number in 32 bits. */
const MAX_RESTARTS = 2 ** 32 - 1;

/**
 * Returns the number of the next run: one more than the highest number of a log in the directory, or 0 if there are no
 * logs.
 */
export async function findNextRunNumber(files: FileSystem, directory: string): Promise<number> {
  let nextRun = 0;
  for (const entry of await listEntries(files, directory)) {
    const runNumber = entry.isDirectory() ? undefined : LOG_NAME_PATTERN.exec(entry.name)?.[1];
    if (runNumber !== undefined && Number(runNumber) < MAX_RESTARTS) nextRun = Math.max(nextRun, Number(runNumber) + 1);
  }
  return nextRun;
}

async function listEntries(files: FileSystem, directory: string) {
  try {
    return await files.entries(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
