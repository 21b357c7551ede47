import { isUtf8 } from 'node:buffer';
import { basename, dirname, join } from 'node:path';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import { undefinedIfMissing } from '../yaml/textFile.ts';

/**
 * The directory of a source's manifests, or one file in it (`fileName`). `id` identifies the directory by its device
 * and inode.
 */
export interface ManifestLocation {
  readonly directory: string;
  readonly fileName?: string;
  readonly id: string;
}

/** Resolves a path to a directory or a file in a directory. Returns undefined if nothing exists there. */
export async function locateManifests(files: FileSystem, path: string): Promise<ManifestLocation | undefined> {
  return undefinedIfMissing(async () => {
    const stats = await files.stat(path);
    if (stats.isDirectory()) return { directory: path, id: `${stats.dev}:${stats.ino}` };
    const directory = dirname(path);
    const parentStats = await files.stat(directory);
    return { directory, fileName: basename(path), id: `${parentStats.dev}:${parentStats.ino}` };
  });
}

/**
 * Whether a file with this name may be a manifest. Names that start with a dot belong to editors or mounted volumes.
 */
export function isManifestName(location: ManifestLocation, name: string): boolean {
  return location.fileName === undefined ? !name.startsWith('.') : name === location.fileName;
}

/** The candidate files of a manifest directory, sorted. */
export interface ListedManifests {
  readonly files: readonly string[];
  /**
   * Printable forms of paths whose names are not valid UTF-8, with invalid bytes as `\\xff`. Files with such names
   * cannot be opened.
   */
  readonly invalidNames: readonly string[];
}

export async function listManifests(disk: FileSystem, location: ManifestLocation): Promise<ListedManifests> {
  const names = await disk.readdirBytes(location.directory);
  const path = (name: string) => join(location.directory, name);
  const files = names.filter(isUtf8).map((name) => name.toString('utf8'));
  const invalidNames = names.filter((name) => !isUtf8(name)).map(printableBytes);
  const isManifestFile = (name: string) => isManifestName(location, name);
  return {
    files: files.filter(isManifestFile).sort().map(path),
    invalidNames: invalidNames.filter(isManifestFile).sort().map(path),
  };
}

const printableBytes = (name: Buffer): string =>
  name.toString('latin1').replace(/[^\x20-\x7e]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
