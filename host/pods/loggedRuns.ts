/** What the logs of a container tell of its former runs, when the runtime has forgotten them (C23). */
import { join } from 'node:path';
import { isMissing } from '../files/fileErrors.ts';
import type { FileSystem } from '../files/fileSystem.ts';

/** `3.log`, and what was set aside of it. */
const LOG = /^(\d+)\.log(\..*)?/;
/** The runtime counts attempts in 32 bits; no run of ours has a higher number. */
const MOST_RESTARTS = 2 ** 32 - 1;

/** The number of the run to come: one more than the highest that a log in the folder bears, 0 where there is none. */
export async function restartsByLogs(files: FileSystem, directory: string): Promise<number> {
  const logs = (await namesIn(files, directory)).flatMap((name) => {
    const run = Number(LOG.exec(name)?.[1]);
    return run < MOST_RESTARTS ? [{ run, name }] : [];
  });
  for (const { run, name } of logs.sort((one, other) => other.run - one.run)) {
    if (!(await isDirectory(files, join(directory, name)))) return run + 1;
  }
  return 0;
}

async function namesIn(files: FileSystem, directory: string): Promise<readonly string[]> {
  try {
    return await files.readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** What was removed meanwhile was a log. */
async function isDirectory(files: FileSystem, path: string): Promise<boolean> {
  try {
    return (await files.lstat(path)).isDirectory();
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
