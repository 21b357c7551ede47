/** What the logs of a container tell of its former runs, when the runtime has forgotten them (C23). */
import { isMissing } from '../files/fileErrors.ts';
import type { FileSystem } from '../files/fileSystem.ts';

/** `3.log`, and what was set aside of it. */
const LOG = /^(\d+)\.log(\..*)?/;
/** The runtime counts attempts in 32 bits; no run of ours has a higher number. */
const MOST_RESTARTS = 2 ** 32 - 1;

/** The number of the run to come: one more than the highest that a log in the folder bears, 0 where there is none. */
export async function restartsByLogs(files: FileSystem, directory: string): Promise<number> {
  let next = 0;
  for (const entry of await entriesOf(files, directory)) {
    const number = entry.isDirectory() ? undefined : LOG.exec(entry.name)?.[1];
    if (number !== undefined && Number(number) < MOST_RESTARTS) next = Math.max(next, Number(number) + 1);
  }
  return next;
}

async function entriesOf(files: FileSystem, directory: string) {
  try {
    return await files.entries(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
