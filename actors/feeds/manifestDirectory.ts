import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const LARGEST_MANIFEST = 10 * 1024 * 1024;

/** Where a source's files are: all of a directory, or one file of it. `id` tells one directory from another. */
export interface ManifestPlace {
  readonly directory: string;
  readonly only?: string;
  readonly id: string;
}

/** Finds out what a path is; undefined when nothing is there. */
export async function locateManifests(path: string): Promise<ManifestPlace | undefined> {
  return orAbsent(async () => {
    const found = await stat(path);
    if (found.isDirectory()) return { directory: path, id: `${found.dev}:${found.ino}` };
    const directory = dirname(path);
    const parent = await stat(directory);
    return { directory, only: basename(path), id: `${parent.dev}:${parent.ino}` };
  });
}

/** Whether a name of a directory may be a manifest: what begins with a dot is an editor's or a volume's own. */
export function isManifestName(place: ManifestPlace, name: string): boolean {
  return place.only === undefined ? !name.startsWith('.') : name === place.only;
}

/** The paths that may be manifests, in order. */
export async function listManifests(place: ManifestPlace): Promise<string[]> {
  const names = await readdir(place.directory);
  return names
    .filter((name) => isManifestName(place, name))
    .sort()
    .map((name) => join(place.directory, name));
}

/** A file's text; undefined when there is no regular file (symlinks are followed). Throws when it can not be read. */
export async function readManifestText(file: string, signal: AbortSignal): Promise<string | undefined> {
  return orAbsent(async () => {
    const found = await stat(file);
    if (!found.isFile()) return undefined;
    if (found.size > LARGEST_MANIFEST) throw new Error(`the file is larger than ${LARGEST_MANIFEST} bytes`);
    return readFile(file, { encoding: 'utf8', signal });
  });
}

async function orAbsent<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
