import { basename, dirname, join } from 'node:path';
import type { FileSystem } from './fileSystem.ts';
import { syncDirectory } from './syncDirectory.ts';

/** Writes a file with the given mode, replacing an existing file atomically and durably. */
export async function replaceFile(
  files: Pick<FileSystem, 'open' | 'rename'>,
  path: string,
  { content, mode }: { readonly content: string; readonly mode: number },
): Promise<void> {
  const directory = dirname(path);
  const temporaryPath = join(directory, `.${basename(path)}.tmp`);
  const handle = await files.open(temporaryPath, 'w', mode);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await files.rename(temporaryPath, path);
  await syncDirectory(files, directory);
}
