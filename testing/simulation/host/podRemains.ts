/** Finds remains of the agent's pods on the host. */
import { join } from 'node:path';
import type { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';
import type { MemoryFiles } from '../../../host/simulated/memoryFiles.ts';

interface HostState {
  readonly root: string;
  readonly logs: string;
  readonly disk: MemoryDisk;
  readonly files: MemoryFiles;
  /** The cgroups of the agent's pods. */
  readonly cgroups: readonly string[];
  /** Whether a path belongs to a different agent or program. */
  readonly isForeign: (path: string) => boolean;
}

/** The kinds of facts that the store contains per pod. */
const FACTS = ['allocations', 'statuses', 'unacknowledged', 'probes', 'manifests'];

/** Returns the directories, logs, links, facts, mounts and cgroups of pods, except for pods whose UIDs are in `but`. */
export function podRemains(state: HostState, but: readonly string[]): readonly string[] {
  const { root, logs, disk, files, cgroups, isForeign } = state;
  const folders = [`${root}/pods`, logs, join(logs, '..', 'containers')];
  const paths = [...folders, ...FACTS.map((kind) => `${root}/statelet/${kind}`)].flatMap((folder) =>
    files.existsSync(folder) ? files.readdirSync(folder).map((name) => `${folder}/${name}`) : [],
  );
  const isExcluded = (text: string) => but.some((uid) => text.includes(uid));
  return [
    ...paths.filter((path) => !isForeign(path) && !isExcluded(path) && !isExcluded(contentOf(state, path))),
    ...disk.mounts.flatMap(({ path }) => (isForeign(path) || isExcluded(path) ? [] : [`the mount at ${path}`])),
    ...cgroups.filter((path) => !isExcluded(path)).map((path) => `the cgroup ${path}`),
  ];
}

/** Returns the target of a link, the contents of a file, or an empty string for a directory. */
function contentOf({ disk, files }: HostState, path: string): string {
  const inode = disk.inodeAt(path, 'readlink', { follow: false });
  if (inode.kind === 'link') return inode.target;
  return inode.kind === 'file' ? files.readFileSync(path) : '';
}
