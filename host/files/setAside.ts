/** Renames damaged files of the agent, and directories in the place of its files, instead of deleting them. */
import { errorCode } from './fileErrors.ts';
import type { FileSystem } from './fileSystem.ts';

const CORRUPT = '.corrupt';
/** Maximum number of names that are tried. */
const MAX_NAMES = 100;
/** Error codes of a rename to a name that a directory has. */
const IS_TAKEN: ReadonlySet<string> = new Set(['EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST']);

/** Renames something to `<file>.corrupt`, or with a number after it if a directory has that name. Returns the ending. */
export async function setAside(files: Pick<FileSystem, 'rename'>, file: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const ending = number === 1 ? CORRUPT : `${CORRUPT}-${number}`;
    try {
      await files.rename(file, file + ending);
      return ending;
    } catch (error) {
      if (!IS_TAKEN.has(errorCode(error) ?? '') || number === MAX_NAMES) throw error;
    }
  }
}
