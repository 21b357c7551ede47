/** Keeps what a story has broken in a file. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../host/files/fileErrors.ts';
import type { Found } from './stories/found.ts';

/** Writes a file of its own, whatever else is there, and gives its path. */
export async function keepFound(found: Found, directory: string): Promise<string> {
  const text = `${JSON.stringify(found)}\n`;
  for (let number = 1; ; number += 1) {
    const file = join(directory, `soak-${found.story.seed}${number === 1 ? '' : `-${number}`}.json`);
    try {
      await writeFile(file, text, { flag: 'wx' });
      return file;
    } catch (error) {
      if (errorCode(error) === 'EEXIST') continue;
      // Half of it would be of no use; whether there is any is unknown.
      await rm(file, { force: true }).catch(() => {});
      throw error;
    }
  }
}
