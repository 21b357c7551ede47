/** Parses the file names of a container's log, i.e. `3.log` and its rotated files. */

const COMPRESSED_SUFFIX = '.gz';
const INCOMPLETE_SUFFIX = '.tmp';

/** The rotated files of a log: the complete ones, oldest first, and those that are no longer needed. */
export interface RotatedFiles {
  readonly files: readonly string[];
  readonly unusedNames: readonly string[];
}

/**
 * Returns the name of the compressed version of a rotated file. `incompleteName` returns the name of that version while
 * it is being written.
 */
export const compressedName = (name: string): string => name + COMPRESSED_SUFFIX;
export const incompleteName = (name: string): string => name + INCOMPLETE_SUFFIX;
export const isCompressedName = (name: string): boolean => name.endsWith(COMPRESSED_SUFFIX);

/** Removes the suffix of compressed files from a name. */
export const plainName = (name: string): string =>
  isCompressedName(name) ? name.slice(0, -COMPRESSED_SUFFIX.length) : name;

/**
 * Selects the rotated files of a log such as `3.log` from the names in its directory. Their alphabetical order is
 * chronological.
 */
export function findRotatedFiles(log: string, names: readonly string[]): RotatedFiles {
  const sortedNames = names.filter((name) => name.startsWith(`${log}.`)).sort();
  const rotatedNames = new Set(sortedNames);
  const isUnused = (name: string) => name.endsWith(INCOMPLETE_SUFFIX) || rotatedNames.has(compressedName(name));
  return { files: sortedNames.filter((name) => !isUnused(name)), unusedNames: sortedNames.filter(isUnused) };
}
