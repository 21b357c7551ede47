/** Parses the file names of a container's log, i.e. `3.log` and its rotated files. */

const COMPRESSED = '.gz';
const INCOMPLETE = '.tmp';

/** The rotated files of a log: the complete ones, the oldest first, and those that are no longer needed. */
export interface RotatedFiles {
  readonly files: readonly string[];
  readonly unused: readonly string[];
}

/**
 * Returns the name of the compressed version of a rotated file, and of the incomplete file while it is being written.
 */
export const compressedName = (name: string): string => name + COMPRESSED;
export const incompleteName = (name: string): string => name + INCOMPLETE;
export const isCompressedName = (name: string): boolean => name.endsWith(COMPRESSED);

/** Removes the suffix for compression from a name. */
export const plainName = (name: string): string => (isCompressedName(name) ? name.slice(0, -COMPRESSED.length) : name);

/**
 * Selects the rotated files of a log such as `3.log` from the names in its directory. Their alphabetical order is
 * chronological.
 */
export function rotatedFilesOf(log: string, names: readonly string[]): RotatedFiles {
  const rotated = names.filter((name) => name.startsWith(`${log}.`)).sort();
  const rotatedNames = new Set(rotated);
  const isUnused = (name: string) => name.endsWith(INCOMPLETE) || rotatedNames.has(compressedName(name));
  return { files: rotated.filter((name) => !isUnused(name)), unused: rotated.filter(isUnused) };
}
