/** Renames damaged files of the agent, and directories that block the paths of its files, instead of deleting them. */
import { errorCode } from './fileErrors.ts';
import type { FileSystem } from './fileSystem.ts';

const CORRUPT_SUFFIX = '.corrupt';
/** Maximum number of names to try for a quarantined file. */
const MAX_NAMES = 100;
/** Error codes of a rename to a path that is an existing directory. */
const NAME_TAKEN_CODES: ReadonlySet<string> = new Set(['EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST']);

/** Renames a file to `<file>.corrupt`, with a number appended if a directory has that name. Returns the suffix. */
export async function quarantineFile(files: Pick<FileSystem, 'rename'>, file: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const suffix = attempt === 1 ? CORRUPT_SUFFIX : `${CORRUPT_SUFFIX}-${attempt}`;
    try {
      await files.rename(file, file + suffix);
      return suffix;
    } catch (error) {
      if (!NAME_TAKEN_CODES.has(errorCode(error) ?? '') || attempt === MAX_NAMES) throw error;
    }
  }
}
