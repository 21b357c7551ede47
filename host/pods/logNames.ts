/** How the files of a container's log are called: `3.log`, and beside it what was set aside of it. */

const COMPRESSED = '.gz';
const HALF_WRITTEN = '.tmp';

/** What has been set aside of a log: its whole files, the oldest first, and what nobody needs any more. */
export interface SetAside {
  readonly files: readonly string[];
  readonly unused: readonly string[];
}

/** The compressed version of what was set aside, and what it is called until it is whole. */
export const compressedName = (name: string): string => name + COMPRESSED;
export const halfWrittenName = (name: string): string => name + HALF_WRITTEN;
export const isCompressedName = (name: string): boolean => name.endsWith(COMPRESSED);

/** What it was called before it was compressed. */
export const plainName = (name: string): string => (isCompressedName(name) ? name.slice(0, -COMPRESSED.length) : name);

/** Of the names in a container's folder those that were set aside of the log `3.log`: their order is that of time. */
export function setAsideOf(log: string, names: readonly string[]): SetAside {
  const all = names.filter((name) => name.startsWith(`${log}.`)).sort();
  const known = new Set(all);
  const isUnused = (name: string) => name.endsWith(HALF_WRITTEN) || known.has(compressedName(name));
  return { files: all.filter((name) => !isUnused(name)), unused: all.filter(isUnused) };
}
