/** What there is on a host of the pods of its agent. */
import { join } from 'node:path';
import type { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';
import type { MemoryFiles } from '../../../host/simulated/memoryFiles.ts';

interface Where {
  readonly root: string;
  readonly logs: string;
  readonly disk: MemoryDisk;
  readonly files: MemoryFiles;
  /** Those of its pods. */
  readonly cgroups: readonly string[];
  /** Whether a path is somebody else's. */
  readonly isForeign: (path: string) => boolean;
}

/** What the store keeps of a pod each. */
const FACTS = ['allocations', 'statuses', 'unacknowledged', 'probes', 'manifests'];

/** Their directories, logs, links, facts, mounts and cgroups. `but`: of pods whose UIDs are not among these. */
export function whatIsLeft(where: Where, but: readonly string[]): readonly string[] {
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

/** Where a link leads to, or what is in a file. */
function contentOf({ disk, files }: Where, path: string): string {
  const found = disk.inodeAt(path, 'readlink', { follow: false });
  if (found.kind === 'link') return found.target;
  return found.kind === 'file' ? files.readFileSync(path) : '';
}
