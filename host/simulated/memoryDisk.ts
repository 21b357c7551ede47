/** Simulates a disk with directories, files and symbolic links in memory, including the effects of a power failure. */
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../files/fileErrors.ts';
import { fileError } from './fileError.ts';
import { type Directory, type Inode, type RegularFile, totalSize } from './inodes.ts';
import { Journal } from './journal.ts';
import { MountTable, type SimulatedMount } from './mountTable.ts';
import { isMountPoint, type ResolvedPath, type ResolveOptions, resolvePath } from './places.ts';

const EMPTY_BUFFER = Buffer.alloc(0);

/** Called with the name of a changed directory entry. */
export type DirectoryListener = (name: string) => void;

export class MemoryDisk {
  readonly rootDirectory: Directory;
  /** Capacity of the disk. Unlimited by default. */
  capacityBytes = Number.POSITIVE_INFINITY;
  readonly #journal = new Journal();
  readonly #mounts = new MountTable();
  readonly #now: () => number;
  readonly #monotonicNow: () => number;
  readonly #watchers = new Map<Directory, Set<DirectoryListener>>();
  #lastInodeNumber = 1;
  #usedBytes = 0;

  /**
   * Creates an empty disk. `now` returns the time for file timestamps, in milliseconds since the epoch. `monotonicNow`
   * returns the time for the journal, from a clock that is never adjusted.
   */
  constructor(now: () => number, monotonicNow = now) {
    this.#now = now;
    this.#monotonicNow = monotonicNow;
    this.rootDirectory = this.#createDirectory(0o755);
  }

  /** Returns the inode at a path without following a link at its end. Undefined if the path does not exist. */
  find(path: string, syscall: string): Inode | undefined {
    return undefinedIfMissing(() => this.#resolvePath(path, { syscall, shouldFollow: false }).inode);
  }

  /** Returns the inode at a path. Throws if it does not exist. */
  inodeAt(path: string, syscall: string, { follow: shouldFollow = true }: { readonly follow?: boolean } = {}): Inode {
    const { inode } = this.#resolvePath(path, { syscall, shouldFollow });
    if (inode === undefined) throw fileError('ENOENT', syscall, path);
    return inode;
  }

  directoryAt(path: string, syscall: string): Directory {
    const inode = this.inodeAt(path, syscall);
    if (inode.kind !== 'directory') throw fileError('ENOTDIR', syscall, path);
    return inode;
  }

  fileAt(path: string, syscall: string): RegularFile {
    const inode = this.inodeAt(path, syscall);
    if (inode.kind === 'file') return inode;
    throw fileError(inode.kind === 'directory' ? 'EISDIR' : 'ELOOP', syscall, path);
  }

  realPath(path: string): string {
    const { inode, path: realPath } = this.#resolvePath(path, { syscall: 'realpath', shouldFollow: true });
    if (inode === undefined) throw fileError('ENOENT', 'realpath', path);
    return realPath;
  }

  /** Resolves the links in the existing part of a path. */
  resolveExisting(path: string): string {
    try {
      return this.#resolvePath(path, { syscall: 'realpath', shouldFollow: true }).path;
    } catch {
      return join(this.resolveExisting(dirname(path)), basename(path));
    }
  }

  makeDirectory(path: string, mode = 0o777): void {
    const { directory, name, inode } = this.#resolvePath(path, { syscall: 'mkdir', shouldFollow: false });
    if (inode !== undefined) throw fileError('EEXIST', 'mkdir', path);
    this.#changeEntries(directory, [[name, this.#createDirectory(mode)]]);
  }

  /** Creates a directory and its parents. Returns the first created directory, if any. */
  createDirectories(path: string, mode?: number): string | undefined {
    const existingInode = undefinedIfMissing(
      () => this.#resolvePath(path, { syscall: 'mkdir', shouldFollow: true }).inode,
    );
    if (existingInode?.kind === 'directory') return undefined;
    if (existingInode !== undefined) throw fileError('EEXIST', 'mkdir', path);
    // Creating the directory fails if the path is a dangling link.
    if (this.find(path, 'mkdir') !== undefined) throw fileError('ENOENT', 'mkdir', path);
    const parentPath = dirname(path);
    const isDanglingParent =
      undefinedIfMissing(() => this.inodeAt(parentPath, 'mkdir')) === undefined &&
      this.find(parentPath, 'mkdir') !== undefined;
    if (isDanglingParent) throw fileError('ENOTDIR', 'mkdir', path);
    const firstCreatedPath = this.createDirectories(parentPath, mode);
    this.makeDirectory(path, mode);
    return firstCreatedPath ?? path;
  }

  /** Opens the file at a path, creating it if it does not exist. */
  openFile(path: string, { mode = 0o666, exclusive = false }: { mode?: number | undefined; exclusive?: boolean }) {
    const { directory, name, inode } = this.#resolvePath(path, { syscall: 'open', shouldFollow: !exclusive });
    if (inode !== undefined && exclusive) throw fileError('EEXIST', 'open', path);
    if (inode?.kind === 'directory') throw fileError('EISDIR', 'open', path);
    if (inode?.kind === 'file') return inode;
    const file: RegularFile = {
      kind: 'file',
      data: EMPTY_BUFFER,
      syncedData: EMPTY_BUFFER,
      writtenAt: this.#monotonicNow(),
      ...this.#createInodeFields(mode),
    };
    this.#changeEntries(directory, [[name, file]]);
    return file;
  }

  /** Writes the contents of a file. On a full disk, writes as much as fits and fails. */
  write(file: RegularFile, data: Buffer, path: string): void {
    const availableBytes = this.capacityBytes - this.#usedBytes + file.data.length;
    const writtenData = data.length > availableBytes ? data.subarray(0, Math.max(0, availableBytes)) : data;
    this.#usedBytes += writtenData.length - file.data.length;
    file.data = writtenData;
    file.mtimeMs = this.#now();
    file.writtenAt = this.#monotonicNow();
    this.#notifyWatchers(path);
    if (writtenData !== data) throw fileError('ENOSPC', 'write', path);
  }

  link(target: string, path: string): void {
    const { directory, name, inode } = this.#resolvePath(path, { syscall: 'symlink', shouldFollow: false });
    if (inode !== undefined) throw fileError('EEXIST', 'symlink', path);
    this.#changeEntries(directory, [[name, { kind: 'link', target, ...this.#createInodeFields(0o777) }]]);
  }

  rename(from: string, to: string): void {
    const source = this.#resolvePath(from, { syscall: 'rename', shouldFollow: false });
    const targetLocation = this.#resolvePath(to, { syscall: 'rename', shouldFollow: false });
    if (source.inode === undefined) throw fileError('ENOENT', 'rename', from);
    if (isMountPoint(source) || isMountPoint(targetLocation)) throw fileError('EBUSY', 'rename', from);
    if (source.inode === targetLocation.inode) return;
    if (`${targetLocation.path}/`.startsWith(`${source.path}/`)) throw fileError('EINVAL', 'rename', from);
    if (`${source.path}/`.startsWith(`${targetLocation.path}/`)) throw fileError('ENOTEMPTY', 'rename', from);
    assertReplaceable(source.inode, targetLocation.inode, to);
    this.#releaseSpace(targetLocation.inode);
    this.#mounts.updatePaths(source.path, targetLocation.path);
    if (source.directory === targetLocation.directory) {
      this.#changeEntries(source.directory, [
        [source.name, undefined],
        [targetLocation.name, source.inode],
      ]);
      return;
    }
    this.#changeEntries(targetLocation.directory, [[targetLocation.name, source.inode]]);
    this.#changeEntries(source.directory, [[source.name, undefined]]);
  }

  unlink(path: string): void {
    const location = this.#resolvePath(path, { syscall: 'unlink', shouldFollow: false });
    const { directory, name, inode } = location;
    if (inode === undefined) throw fileError('ENOENT', 'unlink', path);
    if (isMountPoint(location)) throw fileError('EBUSY', 'unlink', path);
    if (inode.kind === 'directory') throw fileError('EISDIR', 'unlink', path);
    this.#releaseSpace(inode);
    this.#changeEntries(directory, [[name, undefined]]);
  }

  removeDirectory(path: string): void {
    const location = this.#resolvePath(path, { syscall: 'rmdir', shouldFollow: false });
    const { directory, name, inode } = location;
    if (inode === undefined) throw fileError('ENOENT', 'rmdir', path);
    if (inode.kind !== 'directory') throw fileError('ENOTDIR', 'rmdir', path);
    if (isMountPoint(location)) throw fileError('EBUSY', 'rmdir', path);
    if (inode.entries.size > 0) throw fileError('ENOTEMPTY', 'rmdir', path);
    this.#changeEntries(directory, [[name, undefined]]);
  }

  /** Mounts in the order of their creation. */
  get mounts(): readonly SimulatedMount[] {
    return this.#mounts.mounts;
  }

  /** Mounts an empty file system on a directory and hides its contents. */
  mount(type: string, path: string, mode = 0o777): void {
    const {
      inode,
      path: realPath,
      mount: parentMount,
    } = this.#resolvePath(path, { syscall: 'mount', shouldFollow: true });
    if (inode === undefined) throw fileError('ENOENT', 'mount', path);
    if (inode.kind !== 'directory') throw fileError('ENOTDIR', 'mount', path);
    this.#mounts.add({
      path: realPath,
      type,
      root: this.#createDirectory(mode),
      mountPoint: inode,
      parentMount,
    });
  }

  /** Bind-mounts `source` onto an existing path. Both must be directories, or neither. */
  bind(source: string, path: string): void {
    const from = this.#resolvePath(source, { syscall: 'mount', shouldFollow: true });
    const to = this.#resolvePath(path, { syscall: 'mount', shouldFollow: true });
    if (from.inode === undefined || to.inode === undefined) throw fileError('ENOENT', 'mount', path);
    if ((from.inode.kind === 'directory') !== (to.inode.kind === 'directory'))
      throw fileError('ENOTDIR', 'mount', path);
    this.#mounts.add({
      path: to.path,
      type: from.mount?.type ?? 'ext4',
      source: from.path,
      root: from.inode,
      mountPoint: to.inode,
      parentMount: to.mount,
    });
  }

  /** Unmounts the topmost mount at a path. The contents of a memory file system are lost. */
  unmount(path: string): void {
    const location = this.#resolvePath(path, { syscall: 'umount', shouldFollow: true });
    const { mount } = location;
    if (mount === undefined || !isMountPoint(location)) throw fileError('EINVAL', 'umount', path);
    if (!this.#mounts.remove(mount)) throw fileError('EBUSY', 'umount', path);
    if (mount.source === undefined) this.#releaseSpace(mount.root);
  }

  /**
   * Removes a mount that cannot be reached by a path, e.g. one that another process created in its own mount namespace.
   */
  detach(hidden: SimulatedMount): void {
    if (this.#mounts.remove(hidden) && hidden.source === undefined) this.#releaseSpace(hidden.root);
  }

  /** Watches the entries of a directory. Returns a function that stops watching. */
  watch(path: string, listener: DirectoryListener): () => void {
    const directory = this.directoryAt(path, 'watch');
    const listeners = this.#watchers.get(directory) ?? new Set();
    this.#watchers.set(directory, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#watchers.delete(directory);
    };
  }

  /** Makes the contents of a file or the entries of a directory durable. */
  sync(inode: Inode): void {
    this.#journal.sync(inode);
  }

  /** Simulates a power failure. `random` returns numbers in [0, 1). */
  cutPower(random: () => number): void {
    this.#watchers.clear();
    this.#mounts.clear();
    this.#journal.cutPower(this.rootDirectory, { random, now: this.#monotonicNow() });
    this.#usedBytes = totalSize(this.rootDirectory);
  }

  #createInodeFields(mode: number) {
    this.#lastInodeNumber += 1;
    return { ino: this.#lastInodeNumber, mode, uid: 0, gid: 0, mtimeMs: this.#now() };
  }

  #createDirectory(mode: number): Directory {
    return { kind: 'directory', entries: new Map(), syncedEntries: new Map(), ...this.#createInodeFields(mode) };
  }

  #changeEntries(directory: Directory, changes: readonly (readonly [string, Inode | undefined])[]): void {
    this.#journal.change(directory, changes, this.#monotonicNow());
    directory.mtimeMs = this.#now();
    for (const [name] of changes) for (const listener of this.#watchers.get(directory) ?? []) listener(name);
  }

  #notifyWatchers(path: string): void {
    if (this.#watchers.size === 0) return;
    const { directory, name } = this.#resolvePath(path, { syscall: 'write', shouldFollow: true });
    for (const listener of this.#watchers.get(directory) ?? []) listener(name);
  }

  #releaseSpace(inode: Inode | undefined): void {
    if (inode !== undefined) this.#usedBytes -= totalSize(inode);
  }

  #resolvePath(path: string, options: ResolveOptions): ResolvedPath {
    return resolvePath({ root: this.rootDirectory, mounts: this.#mounts }, path, options);
  }
}

function undefinedIfMissing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function assertReplaceable(source: Inode, target: Inode | undefined, to: string): void {
  if (target === undefined) return;
  if (target.kind !== 'directory') {
    if (source.kind === 'directory') throw fileError('ENOTDIR', 'rename', to);
    return;
  }
  if (source.kind !== 'directory') throw fileError('EISDIR', 'rename', to);
  if (target.entries.size > 0) throw fileError('ENOTEMPTY', 'rename', basename(to));
}
