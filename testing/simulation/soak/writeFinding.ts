/** Writes a finding to a file. */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../../host/files/fileErrors.ts';
import type { Story } from '../stories/story.ts';

/** Writes a new file, never overwriting an existing one, and returns its path. */
export async function writeFinding(finding: { readonly story: Story }, directory: string): Promise<string> {
  const text = `${JSON.stringify(finding)}\n`;
  for (let number = 1; ; number += 1) {
    const file = join(directory, `soak-${finding.story.seed}${number === 1 ? '' : `-${number}`}.json`);
    const opened = await openNew(file);
    if (opened === undefined) continue;
    await writeWhole(opened, file, text);
    return file;
  }
}

/** Returns undefined if the file exists already. Other errors, such as too many open files, are thrown. */
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
    // Remove the incomplete file.
    await rm(file, { force: true }).catch(() => {});
    throw error;
  } finally {
    await opened.close();
  }
}
