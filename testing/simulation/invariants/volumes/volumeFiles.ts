/** The contents of volumes as their containers see them. */
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

/** The directory of a volume with objects, or undefined for every other kind. */
export function directoryOf({ metadata: { uid } }: Pick<Pod, 'metadata'>, volume: Volume): string | undefined {
  const [, folder] = FOLDERS.find(([kind]) => volume[kind] !== undefined) ?? [];
  return folder === undefined ? undefined : `${PATHS.root}/pods/${uid}/volumes/${folder}/${volume.name}`;
}

/** The content of a dangling link. */
const DANGLING_LINK = 'nothing';

/** The contents of all files of a volume, by path. Entries at the top that start with two dots are internal. */
export function volumeFiles(host: SimulatedHost, directory: string, below = ''): VolumeFiles {
  const found = new Map<string, string>();
  const there = inodeAt(host, `${directory}/${below}`);
  if (there?.kind !== 'directory') return found;
  for (const name of there.entries.keys()) {
    if (below === '' && name.startsWith('..')) continue;
    const path = `${below}${name}`;
    const inode = inodeAt(host, `${directory}/${path}`);
    if (inode === undefined) found.set(path, DANGLING_LINK);
    if (inode?.kind === 'file') found.set(path, inode.data.toString());
    if (inode?.kind === 'directory')
      for (const [inner, text] of volumeFiles(host, directory, `${path}/`)) found.set(inner, text);
  }
  return found;
}

/** The inode that a path resolves to, following links. */
function inodeAt({ disk, files }: SimulatedHost, path: string): Inode | undefined {
  return files.existsSync(path) ? disk.inodeAt(path, 'stat') : undefined;
}
