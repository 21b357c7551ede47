/** Reads volumes as their containers see them. */
import type { Inode } from '../../../../host/simulated/inodes.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import type { Volume } from '../../../../kubernetes/api/schema/volume.ts';
import { PATHS, type SimulatedHost } from '../../host/host.ts';
import type { VolumeFiles } from './podNeeds.ts';

const FOLDERS = [
  ['configMap', 'kubernetes.io~configmap'],
  ['secret', 'kubernetes.io~secret'],
  ['projected', 'kubernetes.io~projected'],
] as const;

/** Returns the directory of a volume with objects, or undefined for any other kind of volume. */
export function directoryOf({ metadata: { uid } }: Pick<Pod, 'metadata'>, volume: Volume): string | undefined {
  const [, folder] = FOLDERS.find(([kind]) => volume[kind] !== undefined) ?? [];
  return folder === undefined ? undefined : `${PATHS.root}/pods/${uid}/volumes/${folder}/${volume.name}`;
}

/** Stands for the content of a dangling link. */
const DANGLING_LINK = 'nothing';

/** Returns the contents of all files of a volume, by path. Top-level entries that start with two dots are internal. */
export function volumeFiles(host: SimulatedHost, directory: string, below = ''): VolumeFiles {
  const contents = new Map<string, string>();
  const parent = inodeAt(host, `${directory}/${below}`);
  if (parent?.kind !== 'directory') return contents;
  for (const name of parent.entries.keys()) {
    if (below === '' && name.startsWith('..')) continue;
    const path = `${below}${name}`;
    const inode = inodeAt(host, `${directory}/${path}`);
    if (inode === undefined) contents.set(path, DANGLING_LINK);
    if (inode?.kind === 'file') contents.set(path, inode.data.toString());
    if (inode?.kind === 'directory')
      for (const [inner, text] of volumeFiles(host, directory, `${path}/`)) contents.set(inner, text);
  }
  return contents;
}

/** Returns the inode that a path resolves to, following links. Undefined if there is none. */
function inodeAt({ disk, files }: SimulatedHost, path: string): Inode | undefined {
  return files.existsSync(path) ? disk.inodeAt(path, 'stat') : undefined;
}
