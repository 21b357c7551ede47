import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { NodeFailure } from '../pod/failure.ts';
import { errorCode, messageOf } from '../volume/fileErrors.ts';

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
  await make(resolve(directory)).catch((cause) => {
    throw new NodeFailure('RootDirectoryUnusable', `${directory} cannot be used: ${messageOf(cause)}`, { cause });
  });
}
