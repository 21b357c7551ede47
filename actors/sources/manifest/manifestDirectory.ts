import { isUtf8 } from 'node:buffer';
import { basename, dirname, join } from 'node:path';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import { orAbsent } from '../yaml/textFile.ts';

/** Where a source's files are: all of a directory, or one file of it. `id` tells one directory from another. */
export interface ManifestPlace {
  readonly directory: string;
  readonly only?: string;
  readonly id: string;
}

/** Finds out what a path is; undefined when nothing is there. */
export async function locateManifests(files: FileSystem, path: string): Promise<ManifestPlace | undefined> {
  return orAbsent(async () => {
    const found = await files.stat(path);
    if (found.isDirectory()) return { directory: path, id: `${found.dev}:${found.ino}` };
    const directory = dirname(path);
    const parent = await files.stat(directory);
    return { directory, only: basename(path), id: `${parent.dev}:${parent.ino}` };
  });
}

/** Whether a name of a directory may be a manifest: what begins with a dot is an editor's or a volume's own. */
export function isManifestName(place: ManifestPlace, name: string): boolean {
  return place.only === undefined ? !name.startsWith('.') : name === place.only;
}

/** What a directory has: paths that may be manifests, in order, and names that no path can be made of. */
export interface ListedManifests {
  readonly files: readonly string[];
  /** Paths as they can be shown, with the bytes that are no UTF-8 as `\\xff`. */
  readonly unnameable: readonly string[];
}

/** Lists what may be manifests. */
export async function listManifests(disk: FileSystem, place: ManifestPlace): Promise<ListedManifests> {
  const names = await disk.readdirBytes(place.directory);
  const path = (name: string) => join(place.directory, name);
  const files = names.filter(isUtf8).map((name) => name.toString('utf8'));
  const others = names.filter((name) => !isUtf8(name)).map(shownBytes);
  const isManifest = (name: string) => isManifestName(place, name);
  return { files: files.filter(isManifest).sort().map(path), unnameable: others.filter(isManifest).sort().map(path) };
}

const shownBytes = (name: Buffer): string =>
  name.toString('latin1').replace(/[^\x20-\x7e]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
