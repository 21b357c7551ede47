/** A kernel's cgroups in memory: the directories, the files in them, and what it refuses. */
import { basename, dirname, join } from 'node:path';
import type { Controller } from '../../kubernetes/resources/cgroupFiles.ts';
import { type Hierarchy, hierarchyOf } from '../cgroup/hierarchies.ts';
import { type FileErrorCode, fileError } from './fileErrors.ts';

/** A process, as the kernel counts it. */
export interface CgroupProcess {
  readonly pid: number;
  readonly memoryBytes: number;
}

/** The processes in cgroups: whoever runs them says where. */
export interface CgroupProcesses {
  /** Those of one cgroup, without those below it that are in the tree; by its path below the root, such as `kubepods/burstable/pod<uid>`. */
  in(path: string): readonly CgroupProcess[];
  /** What hangs in the kernel may stay. */
  kill(pid: number, why: 'SIGKILL' | 'OOM'): void;
}

type Version = Hierarchy['version'];

interface Node {
  readonly children: Map<string, Node>;
  /** What was written, by the file. */
  readonly values: Map<string, string>;
  /** On v2: the controllers that it passes on to those below it. */
  readonly passedOn: Set<string>;
}

const CONTROLLERS: readonly Controller[] = ['cpu', 'memory', 'pids', 'hugetlb'];
const MOUNT = '/sys/fs/cgroup';
const NO_LIMIT = '9223372036854771712';

/** Each controller's files with what a new cgroup has in them. */
const FILES: Readonly<Record<Version, Readonly<Record<Controller, readonly (readonly [RegExp, string])[]>>>> = {
  v1: {
    cpu: [
      [/^cpu\.shares$/, '1024'],
      [/^cpu\.cfs_period_us$/, '100000'],
      [/^cpu\.cfs_quota_us$/, '-1'],
    ],
    memory: [[/^memory\.limit_in_bytes$/, NO_LIMIT]],
    pids: [[/^pids\.max$/, 'max']],
    hugetlb: [[/^hugetlb\.\d+[KMG]B\.limit_in_bytes$/, NO_LIMIT]],
  },
  v2: {
    cpu: [
      [/^cpu\.weight$/, '100'],
      [/^cpu\.max$/, 'max 100000'],
    ],
    memory: [[/^memory\.max$/, 'max']],
    pids: [[/^pids\.max$/, 'max']],
    hugetlb: [[/^hugetlb\.\d+[KMG]B\.max$/, 'max']],
  },
};

const newNode = (): Node => ({ children: new Map(), values: new Map(), passedOn: new Set() });

/** The hierarchies of one version of cgroups; they outlive whoever makes cgroups in them. */
export class CgroupTree {
  /** As a node is told them. */
  readonly hierarchies: readonly Hierarchy[];
  readonly #version: Version;
  readonly #processes: CgroupProcesses;
  readonly #roots = new Map<string, Node>();
  /** Whether the node may change nothing here, as in a container: those beside it still may. */
  isReadOnly = false;

  constructor(version: Version, processes: CgroupProcesses) {
    this.#version = version;
    this.#processes = processes;
    this.hierarchies =
      version === 'v2'
        ? [{ root: MOUNT, version, controllers: CONTROLLERS }]
        : CONTROLLERS.map((each) => ({ root: join(MOUNT, each), version, controllers: [each] }));
    for (const { root } of this.hierarchies) this.#roots.set(root, newNode());
  }

  /** The cgroups that there are, below the root, those above before those below. */
  get paths(): readonly string[] {
    const all = [...this.#roots.values()].flatMap((root) => pathsBelow(root, ''));
    return [...new Set(all)];
  }

  /** What a file of the cgroup has, undefined where it has no such file: `memory.max` of `kubepods`. */
  valueOf(path: string, file: string): string | undefined {
    const [controller = ''] = file.split('.');
    const root = hierarchyOf(this.hierarchies, controller)?.root;
    return root === undefined ? undefined : this.read(join(root, path, file));
  }

  /** Makes a cgroup in each hierarchy, as somebody beside the node does. */
  add(path: string): void {
    for (const { root } of this.hierarchies) this.#make(join(root, path));
  }

  /** Removes a cgroup, as somebody beside the node does: from each hierarchy where it has neither processes nor others in it. */
  drop(path: string): void {
    for (const { root } of this.hierarchies) {
      const directory = join(root, path);
      if (this.exists(directory) && !this.#isBusy(directory)) this.#remove(directory);
    }
  }

  exists(path: string): boolean {
    return this.#find(path) !== undefined || this.read(path) !== undefined;
  }

  read(file: string): string | undefined {
    const [directory, name] = [dirname(file), basename(file)];
    const node = this.#find(directory);
    if (node === undefined) return undefined;
    if (name === 'cgroup.procs')
      return this.#ownOf(directory)
        .map(({ pid }) => `${pid}\n`)
        .join('');
    if (this.#version === 'v2' && name === 'cgroup.subtree_control') return [...node.passedOn].join(' ');
    if (this.#version === 'v2' && name === 'cgroup.controllers') return this.#controllersOf(directory).join(' ');
    return node.values.get(name) ?? this.#initial(directory, name);
  }

  names(directory: string): readonly string[] {
    return [...(this.#find(directory)?.children.keys() ?? [])];
  }

  children(directory: string): readonly string[] {
    this.#at(directory, 'scandir');
    return this.names(directory).map((name) => join(directory, name));
  }

  makeDirectories(directory: string): void {
    if (this.#find(directory) === undefined) this.#requireWritable('mkdir', directory);
    this.#make(directory);
  }

  #make(directory: string): void {
    const [root, names] = this.#split(directory);
    if (root === undefined) throw fileError('EROFS', 'mkdir', directory);
    let node = root;
    for (const name of names) {
      const next = node.children.get(name) ?? newNode();
      node.children.set(name, next);
      node = next;
    }
  }

  /** A cgroup with processes or with others in it stays. */
  removeDirectory(directory: string): void {
    // As the kernel has it: only what it would be in is looked for before.
    this.#at(dirname(directory), 'rmdir');
    this.#requireWritable('rmdir', directory);
    this.#remove(directory);
  }

  #remove(directory: string): void {
    this.#at(directory, 'rmdir');
    const above = this.#find(dirname(directory));
    if (above === undefined || this.#isBusy(directory)) throw fileError('EBUSY', 'rmdir', directory);
    above.children.delete(basename(directory));
  }

  #isBusy(directory: string): boolean {
    const hasOthers = (this.#find(directory)?.children.size ?? 0) > 0;
    return hasOthers || this.#ownOf(directory).length > 0;
  }

  write(file: string, text: string): void {
    const refuse = (code: FileErrorCode) => fileError(code, 'write', file);
    const [directory, name] = [dirname(file), basename(file)];
    const node = this.#at(directory, 'open');
    this.#requireWritable('open', file);
    if (this.#version === 'v2' && name === 'cgroup.subtree_control') {
      const wanted = text.split(/\s+/).map((word) => word.replace(/^\+/, ''));
      const given = this.#controllersOf(directory);
      if (wanted.some((each) => !given.includes(each))) throw refuse('ENOENT');
      // Only the root may have processes beside cgroups that are limited.
      if (!this.#roots.has(directory) && this.#ownOf(directory).length > 0) throw refuse('EBUSY');
      for (const each of wanted) node.passedOn.add(each);
      return;
    }
    // Nobody can make a file that the kernel does not.
    if (this.#initial(directory, name) === undefined) throw refuse('EACCES');
    if (!/^(max|-?\d+)( \d+)?$/.test(text)) throw refuse('EINVAL');
    if (name === 'memory.limit_in_bytes' && Number(text) < this.#usedBy(directory)) throw refuse('EBUSY');
    node.values.set(name, text);
    if (name === 'memory.max' && text !== 'max') this.#reclaim(directory, Number(text));
  }

  /** Gives the processes that there were. */
  kill(directory: string): readonly number[] {
    const pids = this.#ownOf(directory).map(({ pid }) => pid);
    for (const pid of pids) this.#processes.kill(pid, 'SIGKILL');
    return pids;
  }

  #requireWritable(syscall: string, path: string): void {
    if (this.isReadOnly) throw fileError('EROFS', syscall, path);
  }

  /** What is over the limit is killed, the largest first, until the rest fits. */
  #reclaim(directory: string, limit: number): void {
    const bySize = this.#allOf(directory).toSorted((one, other) => other.memoryBytes - one.memoryBytes);
    for (const { pid } of bySize) {
      if (this.#usedBy(directory) <= limit) return;
      this.#processes.kill(pid, 'OOM');
    }
  }

  #usedBy(directory: string): number {
    return this.#allOf(directory).reduce((sum, { memoryBytes }) => sum + memoryBytes, 0);
  }

  #allOf(directory: string): readonly CgroupProcess[] {
    const below = this.names(directory).flatMap((name) => this.#allOf(join(directory, name)));
    return [...this.#ownOf(directory), ...below];
  }

  #ownOf(directory: string): readonly CgroupProcess[] {
    const [, names] = this.#split(directory);
    return names.length === 0 ? [] : this.#processes.in(names.join('/'));
  }

  /** The controllers that a cgroup has: on v2 those that the one above passes on. */
  #controllersOf(directory: string): readonly string[] {
    const own = this.hierarchies.find(({ root }) => root === directory || directory.startsWith(`${root}/`));
    if (own === undefined) return [];
    if (own.version === 'v1' || own.root === directory) return own.controllers;
    return [...(this.#find(dirname(directory))?.passedOn ?? [])];
  }

  /** What a file has that nothing was written to; undefined where the cgroup has no such file. The root has no limits. */
  #initial(directory: string, name: string): string | undefined {
    if (this.#roots.has(directory)) return undefined;
    const given = this.#controllersOf(directory);
    const files = CONTROLLERS.flatMap((each) => (given.includes(each) ? FILES[this.#version][each] : []));
    return files.find(([pattern]) => pattern.test(name))?.[1];
  }

  #at(directory: string, syscall: string): Node {
    const found = this.#find(directory);
    if (found === undefined) throw fileError('ENOENT', syscall, directory);
    return found;
  }

  #find(directory: string): Node | undefined {
    const [root, names] = this.#split(directory);
    let node = root;
    for (const name of names) node = node?.children.get(name);
    return node;
  }

  /** The root of the hierarchy that a directory is in, and the names that lead on from there. */
  #split(directory: string): readonly [Node | undefined, readonly string[]] {
    for (const [root, node] of this.#roots) {
      if (directory === root) return [node, []];
      if (directory.startsWith(`${root}/`)) return [node, directory.slice(root.length + 1).split('/')];
    }
    return [undefined, []];
  }
}

function pathsBelow({ children }: Node, above: string): string[] {
  return [...children].flatMap(([name, node]) => [`${above}${name}`, ...pathsBelow(node, `${above}${name}/`)]);
}
