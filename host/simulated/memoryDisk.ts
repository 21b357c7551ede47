/** Simulates a disk with directories, files and symbolic links in memory, including the effects of a power failure. */
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../files/fileErrors.ts';
import { fileError } from './fileErrors.ts';
import { type Directory, type Inode, type RegularFile, totalSize } from './inodes.ts';
import { Journal } from './journal.ts';
import { type Mounted, MountTable } from './mountTable.ts';
import { isMountPoint, type ResolvedPath, type ResolveOptions, resolvePath } from './places.ts';

const EMPTY = Buffer.alloc(0);

/** Called with the name of a changed directory entry. */
export type DirectoryListener = (name: string) => void;

export class MemoryDisk {
  readonly root: Directory;
  /** Capacity in bytes. */
  capacity = Number.POSITIVE_INFINITY;
  readonly #journal = new Journal();
  readonly #mounts = new MountTable();
  readonly #now: () => number;
  readonly #monotonicNow: () => number;
  readonly #watchers = new Map<Directory, Set<DirectoryListener>>();
  #lastInode = 1;
  #usedBytes = 0;

  /**
   * Creates an empty disk. `now` returns the time for modification times, in milliseconds since the epoch.
   * `monotonicNow` returns the time for the journal, from a clock that is never set.
   */
  constructor(now: () => number, monotonicNow = now) {
    this.#now = now;
    this.#monotonicNow = monotonicNow;
    this.root = this.#newDirectory(0o755);
  }

  /** Returns the inode at a path without following a link at its end. Undefined if the path does not exist. */
  find(path: string, syscall: string): Inode | undefined {
    return undefinedIfMissing(() => this.#locate(path, { syscall, follow: false }).inode);
  }

  /** Returns the inode at a path. Throws if it does not exist. */
  inodeAt(path: string, syscall: string, { follow = true }: { readonly follow?: boolean } = {}): Inode {
    const { inode } = this.#locate(path, { syscall, follow });
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
    const { inode, path: realPath } = this.#locate(path, { syscall: 'realpath', follow: true });
    if (inode === undefined) throw fileError('ENOENT', 'realpath', path);
    return realPath;
  }

  /** Resolves the links in the existing part of a path. */
  resolveExisting(path: string): string {
    try {
      return this.#locate(path, { syscall: 'realpath', follow: true }).path;
    } catch {
      return join(this.resolveExisting(dirname(path)), basename(path));
    }
  }

  makeDirectory(path: string, mode = 0o777): void {
    const { directory, name, inode } = this.#locate(path, { syscall: 'mkdir', follow: false });
    if (inode !== undefined) throw fileError('EEXIST', 'mkdir', path);
    this.#changeEntries(directory, [[name, this.#newDirectory(mode)]]);
  }

  /** Creates a directory and its parents. Returns the first created directory, if any. */
  makeDirectories(path: string, mode?: number): string | undefined {
    const found = undefinedIfMissing(() => this.#locate(path, { syscall: 'mkdir', follow: true }).inode);
    if (found?.kind === 'directory') return undefined;
    if (found !== undefined) throw fileError('EEXIST', 'mkdir', path);
    // A dangling link prevents the creation.
    if (this.find(path, 'mkdir') !== undefined) throw fileError('ENOENT', 'mkdir', path);
    const parent = dirname(path);
    const isDanglingParent =
      undefinedIfMissing(() => this.inodeAt(parent, 'mkdir')) === undefined && this.find(parent, 'mkdir') !== undefined;
    if (isDanglingParent) throw fileError('ENOTDIR', 'mkdir', path);
    const firstCreated = this.makeDirectories(parent, mode);
    this.makeDirectory(path, mode);
    return firstCreated ?? path;
  }

  /** Opens the file at a path, creating it if it does not exist. */
  openFile(path: string, { mode = 0o666, exclusive = false }: { mode?: number | undefined; exclusive?: boolean }) {
    const { directory, name, inode } = this.#locate(path, { syscall: 'open', follow: !exclusive });
    if (inode !== undefined && exclusive) throw fileError('EEXIST', 'open', path);
    if (inode?.kind === 'directory') throw fileError('EISDIR', 'open', path);
    if (inode?.kind === 'file') return inode;
    const file: RegularFile = {
      kind: 'file',
      data: EMPTY,
      synced: EMPTY,
      writtenAt: this.#monotonicNow(),
      ...this.#inodeFields(mode),
    };
    this.#changeEntries(directory, [[name, file]]);
    return file;
  }

  /** Writes the contents of a file. On a full disk, writes as much as fits and fails. */
  write(file: RegularFile, data: Buffer, path: string): void {
    const availableBytes = this.capacity - this.#usedBytes + file.data.length;
    const written = data.length > availableBytes ? data.subarray(0, Math.max(0, availableBytes)) : data;
    this.#usedBytes += written.length - file.data.length;
    file.data = written;
    file.mtimeMs = this.#now();
    file.writtenAt = this.#monotonicNow();
    this.#notifyWatchers(path);
    if (written !== data) throw fileError('ENOSPC', 'write', path);
  }

  link(target: string, path: string): void {
    const { directory, name, inode } = this.#locate(path, { syscall: 'symlink', follow: false });
    if (inode !== undefined) throw fileError('EEXIST', 'symlink', path);
    this.#changeEntries(directory, [[name, { kind: 'link', target, ...this.#inodeFields(0o777) }]]);
  }

  rename(from: string, to: string): void {
    const source = this.#locate(from, { syscall: 'rename', follow: false });
    const target = this.#locate(to, { syscall: 'rename', follow: false });
    if (source.inode === undefined) throw fileError('ENOENT', 'rename', from);
    if (isMountPoint(source) || isMountPoint(target)) throw fileError('EBUSY', 'rename', from);
    if (source.inode === target.inode) return;
    if (`${target.path}/`.startsWith(`${source.path}/`)) throw fileError('EINVAL', 'rename', from);
    if (`${source.path}/`.startsWith(`${target.path}/`)) throw fileError('ENOTEMPTY', 'rename', from);
    assertReplaceable(source.inode, target.inode, to);
    this.#releaseSpace(target.inode);
    this.#mounts.updatePaths(source.path, target.path);
    if (source.directory === target.directory) {
      this.#changeEntries(source.directory, [
        [source.name, undefined],
        [target.name, source.inode],
      ]);
      return;
    }
    this.#changeEntries(target.directory, [[target.name, source.inode]]);
    this.#changeEntries(source.directory, [[source.name, undefined]]);
  }

  /** Removes a file or link. */
  unlink(path: string): void {
    const location = this.#locate(path, { syscall: 'unlink', follow: false });
    const { directory, name, inode } = location;
    if (inode === undefined) throw fileError('ENOENT', 'unlink', path);
    if (isMountPoint(location)) throw fileError('EBUSY', 'unlink', path);
    if (inode.kind === 'directory') throw fileError('EISDIR', 'unlink', path);
    this.#releaseSpace(inode);
    this.#changeEntries(directory, [[name, undefined]]);
  }

  removeDirectory(path: string): void {
    const location = this.#locate(path, { syscall: 'rmdir', follow: false });
    const { directory, name, inode } = location;
    if (inode === undefined) throw fileError('ENOENT', 'rmdir', path);
    if (inode.kind !== 'directory') throw fileError('ENOTDIR', 'rmdir', path);
    if (isMountPoint(location)) throw fileError('EBUSY', 'rmdir', path);
    if (inode.entries.size > 0) throw fileError('ENOTEMPTY', 'rmdir', path);
    this.#changeEntries(directory, [[name, undefined]]);
  }

  /** Mounts in the order of their creation. */
  get mounts(): readonly Mounted[] {
    return this.#mounts.all;
  }

  /** Mounts an empty file system on a directory and hides its contents. */
  mount(type: string, path: string, mode = 0o777): void {
    const { inode, path: realPath, mount: parentMount } = this.#locate(path, { syscall: 'mount', follow: true });
    if (inode === undefined) throw fileError('ENOENT', 'mount', path);
    if (inode.kind !== 'directory') throw fileError('ENOTDIR', 'mount', path);
    this.#mounts.add({ path: realPath, type, root: this.#newDirectory(mode), mountPoint: inode, parent: parentMount });
  }

  /** Bind-mounts a path on an existing one. Both must be directories, or neither. */
  bind(source: string, path: string): void {
    const from = this.#locate(source, { syscall: 'mount', follow: true });
    const to = this.#locate(path, { syscall: 'mount', follow: true });
    if (from.inode === undefined || to.inode === undefined) throw fileError('ENOENT', 'mount', path);
    if ((from.inode.kind === 'directory') !== (to.inode.kind === 'directory'))
      throw fileError('ENOTDIR', 'mount', path);
    this.#mounts.add({
      path: to.path,
      type: from.mount?.type ?? 'ext4',
      source: from.path,
      root: from.inode,
      mountPoint: to.inode,
      parent: to.mount,
    });
  }

  /** Unmounts the topmost mount at a path. The contents of a memory file system are lost. */
  unmount(path: string): void {
    const location = this.#locate(path, { syscall: 'umount', follow: true });
    const { mount } = location;
    if (mount === undefined || !isMountPoint(location)) throw fileError('EINVAL', 'umount', path);
    if (!this.#mounts.remove(mount)) throw fileError('EBUSY', 'umount', path);
    if (mount.source === undefined) this.#releaseSpace(mount.root);
  }

  /**
   * Removes a mount that cannot be reached by a path, e.g. one that another process created in its own mount namespace.
   */
  detach(hidden: Mounted): void {
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
    this.#journal.cutPower(this.root, { random, now: this.#monotonicNow() });
    this.#usedBytes = totalSize(this.root);
  }

  #inodeFields(mode: number) {
    this.#lastInode += 1;
    return { ino: this.#lastInode, mode, uid: 0, gid: 0, mtimeMs: this.#now() };
  }

  #newDirectory(mode: number): Directory {
    return { kind: 'directory', entries: new Map(), synced: new Map(), ...this.#inodeFields(mode) };
  }

  #changeEntries(directory: Directory, changes: readonly (readonly [string, Inode | undefined])[]): void {
    this.#journal.change(directory, changes, this.#monotonicNow());
    directory.mtimeMs = this.#now();
    for (const [name] of changes) for (const listener of this.#watchers.get(directory) ?? []) listener(name);
  }

  #notifyWatchers(path: string): void {
    if (this.#watchers.size === 0) return;
    const { directory, name } = this.#locate(path, { syscall: 'write', follow: true });
    for (const listener of this.#watchers.get(directory) ?? []) listener(name);
  }

  #releaseSpace(inode: Inode | undefined): void {
    if (inode !== undefined) this.#usedBytes -= totalSize(inode);
  }

  #locate(path: string, options: ResolveOptions): ResolvedPath {
    return resolvePath({ root: this.root, mounts: this.#mounts }, path, options);
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
