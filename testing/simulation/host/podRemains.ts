/** The remains of the agent's pods on the host. */
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

/** The kinds of facts that the store has per pod. */
const FACTS = ['allocations', 'statuses', 'unacknowledged', 'probes', 'manifests'];

/**
 * Returns the directories, logs, links, facts, mounts and cgroups of pods, except for those whose UIDs are in `but`.
 */
export function podRemains(where: HostState, but: readonly string[]): readonly string[] {
  const { root, logs, disk, files, cgroups, isForeign } = where;
  const folders = [`${root}/pods`, logs, join(logs, '..', 'containers')];
  const paths = [...folders, ...FACTS.map((kind) => `${root}/statelet/${kind}`)].flatMap((folder) =>
    files.existsSync(folder) ? files.readdirSync(folder).map((name) => `${folder}/${name}`) : [],
  );
  const isOf = (text: string) => but.some((uid) => text.includes(uid));
  return [
    ...paths.filter((path) => !isForeign(path) && !isOf(path) && !isOf(contentOf(where, path))),
    ...disk.mounts.flatMap(({ path }) => (isForeign(path) || isOf(path) ? [] : [`the mount at ${path}`])),
    ...cgroups.filter((path) => !isOf(path)).map((path) => `the cgroup ${path}`),
  ];
}

/** The target of a link, or the contents of a file. */
function contentOf({ disk, files }: HostState, path: string): string {
  const found = disk.inodeAt(path, 'readlink', { follow: false });
  if (found.kind === 'link') return found.target;
  return found.kind === 'file' ? files.readFileSync(path) : '';
}
