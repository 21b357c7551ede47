/** Simulates the kernel's cgroups in memory: directories, their files, and errors. */
import { basename, dirname, join } from 'node:path';
import type { Controller } from '../../kubernetes/resources/cgroupFiles.ts';
import { findHierarchy, type Hierarchy } from '../cgroup/hierarchies.ts';
import { type FileErrorCode, fileError } from './fileError.ts';

export interface CgroupProcess {
  readonly pid: number;
  readonly memoryBytes: number;
}

export interface CgroupProcesses {
  /**
   * Lists the processes that are in a cgroup itself and not in its child cgroups. The path is relative to the root,
   * e.g. `kubepods/burstable/pod<uid>`.
   */
  in(path: string): readonly CgroupProcess[];
  /** Kills a process. A process in uninterruptible sleep may survive. */
  kill(pid: number, reason: 'SIGKILL' | 'OOM'): void;
}

type CgroupVersion = Hierarchy['version'];

interface CgroupNode {
  readonly children: Map<string, CgroupNode>;
  /** Values that have been written, keyed by file name. */
  readonly values: Map<string, string>;
  /** On cgroup v2, the controllers that are enabled for child cgroups. */
  readonly enabledControllers: Set<string>;
}

const CONTROLLERS: readonly Controller[] = ['cpu', 'memory', 'pids', 'hugetlb'];
const CGROUP_MOUNT_POINT = '/sys/fs/cgroup';
const NO_LIMIT_VALUE = '9223372036854771712';

/** Files of each controller, with their initial values in a new cgroup. */
const CONTROLLER_FILES: Readonly<
  Record<CgroupVersion, Readonly<Record<Controller, readonly (readonly [RegExp, string])[]>>>
> = {
  v1: {
    cpu: [
      [/^cpu\.shares$/, '1024'],
      [/^cpu\.cfs_period_us$/, '100000'],
      [/^cpu\.cfs_quota_us$/, '-1'],
    ],
    memory: [[/^memory\.limit_in_bytes$/, NO_LIMIT_VALUE]],
    pids: [[/^pids\.max$/, 'max']],
    hugetlb: [[/^hugetlb\.\d+[KMG]B\.limit_in_bytes$/, NO_LIMIT_VALUE]],
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

const createNode = (): CgroupNode => ({ children: new Map(), values: new Map(), enabledControllers: new Set() });

/** The hierarchies of one cgroup version. They outlive the agent that creates cgroups in them. */
export class CgroupTree {
  /** The hierarchies as configured for a node. */
  readonly hierarchies: readonly Hierarchy[];
  readonly #version: CgroupVersion;
  readonly #processes: CgroupProcesses;
  readonly #rootNodes = new Map<string, CgroupNode>();
  /** Whether the node has read-only access, as in a container. `add` and `drop` are not affected. */
  isReadOnly = false;

  constructor(version: CgroupVersion, processes: CgroupProcesses) {
    this.#version = version;
    this.#processes = processes;
    this.hierarchies =
      version === 'v2'
        ? [{ root: CGROUP_MOUNT_POINT, version, controllers: CONTROLLERS }]
        : CONTROLLERS.map((controller) => ({
            root: join(CGROUP_MOUNT_POINT, controller),
            version,
            controllers: [controller],
          }));
    for (const { root } of this.hierarchies) this.#rootNodes.set(root, createNode());
  }

  /** Paths of all cgroups relative to the root, parents before children. */
  get paths(): readonly string[] {
    const paths = [...this.#rootNodes.values()].flatMap((root) => listPathsBelow(root, ''));
    return [...new Set(paths)];
  }

  /** Returns the value of a cgroup's file, e.g. `memory.max` of `kubepods`. Undefined if the file does not exist. */
  readFile(path: string, file: string): string | undefined {
    const [controller = ''] = file.split('.');
    const root = findHierarchy(this.hierarchies, controller)?.root;
    return root === undefined ? undefined : this.read(join(root, path, file));
  }

  /** Creates a cgroup in each hierarchy, as other software might. */
  add(path: string): void {
    for (const { root } of this.hierarchies) this.#createDirectories(join(root, path));
  }

  /** Removes a cgroup, as other software might, from each hierarchy in which it has neither processes nor children. */
  drop(path: string): void {
    for (const { root } of this.hierarchies) {
      const directory = join(root, path);
      if (this.exists(directory) && !this.#isBusy(directory)) this.#removeNode(directory);
    }
  }

  exists(path: string): boolean {
    return this.#findNode(path) !== undefined || this.read(path) !== undefined;
  }

  read(file: string): string | undefined {
    const [directory, name] = [dirname(file), basename(file)];
    const node = this.#findNode(directory);
    if (node === undefined) return undefined;
    if (name === 'cgroup.procs')
      return this.#listProcesses(directory)
        .map(({ pid }) => `${pid}\n`)
        .join('');
    if (this.#version === 'v2' && name === 'cgroup.subtree_control') return [...node.enabledControllers].join(' ');
    if (this.#version === 'v2' && name === 'cgroup.controllers')
      return this.#listAvailableControllers(directory).join(' ');
    return node.values.get(name) ?? this.#getInitialValue(directory, name);
  }

  childNames(directory: string): readonly string[] {
    return [...(this.#findNode(directory)?.children.keys() ?? [])];
  }

  children(directory: string): readonly string[] {
    this.#requireNode(directory, 'scandir');
    return this.childNames(directory).map((name) => join(directory, name));
  }

  makeDirectories(directory: string): void {
    if (this.#findNode(directory) === undefined) this.#assertWritable('mkdir', directory);
    this.#createDirectories(directory);
  }

  #createDirectories(directory: string): void {
    const [root, names] = this.#locateNode(directory);
    if (root === undefined) throw fileError('EROFS', 'mkdir', directory);
    let node = root;
    for (const name of names) {
      const childNode = node.children.get(name) ?? createNode();
      node.children.set(name, childNode);
      node = childNode;
    }
  }

  /** Removes a cgroup. Fails if it has processes or children. */
  removeDirectory(directory: string): void {
    // Like the kernel, check only that the parent exists before checking for write access.
    this.#requireNode(dirname(directory), 'rmdir');
    this.#assertWritable('rmdir', directory);
    this.#removeNode(directory);
  }

  #removeNode(directory: string): void {
    this.#requireNode(directory, 'rmdir');
    const parentNode = this.#findNode(dirname(directory));
    if (parentNode === undefined || this.#isBusy(directory)) throw fileError('EBUSY', 'rmdir', directory);
    parentNode.children.delete(basename(directory));
  }

  #isBusy(directory: string): boolean {
    const hasChildren = (this.#findNode(directory)?.children.size ?? 0) > 0;
    return hasChildren || this.#listProcesses(directory).length > 0;
  }

  write(file: string, value: string): void {
    const createFailure = (code: FileErrorCode) => fileError(code, 'write', file);
    const [directory, name] = [dirname(file), basename(file)];
    const node = this.#requireNode(directory, 'open');
    this.#assertWritable('open', file);
    if (this.#version === 'v2' && name === 'cgroup.subtree_control') {
      const requestedControllers = value.split(/\s+/).map((word) => word.replace(/^\+/, ''));
      const availableControllers = this.#listAvailableControllers(directory);
      if (requestedControllers.some((controller) => !availableControllers.includes(controller)))
        throw createFailure('ENOENT');
      // Only the root cgroup may have both processes and child cgroups with controllers.
      if (!this.#rootNodes.has(directory) && this.#listProcesses(directory).length > 0) throw createFailure('EBUSY');
      for (const controller of requestedControllers) node.enabledControllers.add(controller);
      return;
    }
    // Only the kernel creates files in a cgroup.
    if (this.#getInitialValue(directory, name) === undefined) throw createFailure('EACCES');
    if (!/^(max|-?\d+)( \d+)?$/.test(value)) throw createFailure('EINVAL');
    if (name === 'memory.limit_in_bytes' && Number(value) < this.#computeMemoryUsage(directory))
      throw createFailure('EBUSY');
    node.values.set(name, value);
    if (name === 'memory.max' && value !== 'max') this.#enforceLimit(directory, Number(value));
  }

  /** Kills the processes in a cgroup and returns their PIDs. */
  kill(directory: string): readonly number[] {
    const pids = this.#listProcesses(directory).map(({ pid }) => pid);
    for (const pid of pids) this.#processes.kill(pid, 'SIGKILL');
    return pids;
  }

  #assertWritable(syscall: string, path: string): void {
    if (this.isReadOnly) throw fileError('EROFS', syscall, path);
  }

  /** Kills the largest processes until the memory usage is within the limit. */
  #enforceLimit(directory: string, limit: number): void {
    const processesBySize = this.#listAllProcesses(directory).toSorted((a, b) => b.memoryBytes - a.memoryBytes);
    for (const { pid } of processesBySize) {
      if (this.#computeMemoryUsage(directory) <= limit) return;
      this.#processes.kill(pid, 'OOM');
    }
  }

  #computeMemoryUsage(directory: string): number {
    return this.#listAllProcesses(directory).reduce((sum, { memoryBytes }) => sum + memoryBytes, 0);
  }

  #listAllProcesses(directory: string): readonly CgroupProcess[] {
    const descendantProcesses = this.childNames(directory).flatMap((name) =>
      this.#listAllProcesses(join(directory, name)),
    );
    return [...this.#listProcesses(directory), ...descendantProcesses];
  }

  #listProcesses(directory: string): readonly CgroupProcess[] {
    const [, names] = this.#locateNode(directory);
    return names.length === 0 ? [] : this.#processes.in(names.join('/'));
  }

  /** Returns the controllers of a cgroup, which on v2 are those that its parent enables. */
  #listAvailableControllers(directory: string): readonly string[] {
    const hierarchy = this.hierarchies.find(({ root }) => root === directory || directory.startsWith(`${root}/`));
    if (hierarchy === undefined) return [];
    if (hierarchy.version === 'v1' || hierarchy.root === directory) return hierarchy.controllers;
    return [...(this.#findNode(dirname(directory))?.enabledControllers ?? [])];
  }

  /** Returns the initial value of a file, or undefined if the cgroup has no such file. The root has no limits. */
  #getInitialValue(directory: string, name: string): string | undefined {
    if (this.#rootNodes.has(directory)) return undefined;
    const availableControllers = this.#listAvailableControllers(directory);
    const files = CONTROLLERS.flatMap((controller) =>
      availableControllers.includes(controller) ? CONTROLLER_FILES[this.#version][controller] : [],
    );
    return files.find(([pattern]) => pattern.test(name))?.[1];
  }

  #requireNode(directory: string, syscall: string): CgroupNode {
    const node = this.#findNode(directory);
    if (node === undefined) throw fileError('ENOENT', syscall, directory);
    return node;
  }

  #findNode(directory: string): CgroupNode | undefined {
    const [root, names] = this.#locateNode(directory);
    let node = root;
    for (const name of names) node = node?.children.get(name);
    return node;
  }

  /** Returns the root node of the hierarchy that contains a directory, and the names on the path from there. */
  #locateNode(directory: string): readonly [CgroupNode | undefined, readonly string[]] {
    for (const [root, node] of this.#rootNodes) {
      if (directory === root) return [node, []];
      if (directory.startsWith(`${root}/`)) return [node, directory.slice(root.length + 1).split('/')];
    }
    return [undefined, []];
  }
}

function listPathsBelow({ children }: CgroupNode, prefix: string): string[] {
  return [...children].flatMap(([name, node]) => [`${prefix}${name}`, ...listPathsBelow(node, `${prefix}${name}/`)]);
}
