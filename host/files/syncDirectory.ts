import type { FileSystem } from './fileSystem.ts';

/** Makes renames and deletions in a directory durable. */
export async function syncDirectory(files: Pick<FileSystem, 'open'>, directory: string): Promise<void> {
  const handle = await files.open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
