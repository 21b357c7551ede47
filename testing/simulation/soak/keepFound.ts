/** Keeps what a story has broken in a file. */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../../host/files/fileErrors.ts';
import type { Story } from '../stories/story.ts';

/** Writes a file of its own, whatever else is there, and gives its path. */
export async function keepFound(found: { readonly story: Story }, directory: string): Promise<string> {
  const text = `${JSON.stringify(found)}\n`;
  for (let number = 1; ; number += 1) {
    const file = join(directory, `soak-${found.story.seed}${number === 1 ? '' : `-${number}`}.json`);
    const opened = await openNew(file);
    if (opened === undefined) continue;
    await writeWhole(opened, file, text);
    return file;
  }
}

/** Undefined where there is such a file: what else goes wrong, such as too many open files, says nothing about that. */
async function openNew(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, 'wx');
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return undefined;
    throw error;
  }
}

async function writeWhole(opened: FileHandle, file: string, text: string): Promise<void> {
  try {
    await opened.writeFile(text);
  } catch (error) {
    // Half of it would be of no use.
    await rm(file, { force: true }).catch(() => {});
    throw error;
  } finally {
    await opened.close();
  }
}
