/** A disk in memory: directories, files and symbolic links, and what a power cut leaves of them. */
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../files/fileErrors.ts';
import { fileError } from './fileErrors.ts';
import { type Directory, type Inode, type RegularFile, sizeOf } from './inodes.ts';
import { Journal } from './journal.ts';
import { type Mounted, MountTable } from './mountTable.ts';
import { isMountPoint, type Place, placeOf, type Walk } from './places.ts';

const NOTHING = Buffer.alloc(0);

/** A change of the names of a directory, for who watches it. */
export type DirectoryListener = (name: string) => void;

export class MemoryDisk {
  readonly root: Directory;
  /** What it can hold, in bytes. */
  capacity = Number.POSITIVE_INFINITY;
  readonly #journal = new Journal();
  readonly #mounts = new MountTable();
  readonly #now: () => number;
  readonly #elapsed: () => number;
  readonly #watchers = new Map<Directory, Set<DirectoryListener>>();
  #lastInode = 1;
  #used = 0;

  /**
   * `now` gives the time of changes, in milliseconds since the epoch; `elapsed` the time after which they become durable by
   * themselves, which no jump of the clock changes.
   */
  constructor(now: () => number, elapsed = now) {
    this.#now = now;
    this.#elapsed = elapsed;
    this.root = this.#directory(0o755);
  }

  /** What is at a path, without what its last name links to. Undefined where nothing is, or nothing above it. */
  find(path: string, syscall: string): Inode | undefined {
    return orAbsent(() => this.#place(path, { syscall, follow: false }).found);
  }

  /** What a path leads to; fails where nothing is. */
  at(path: string, syscall: string, { follow = true }: { readonly follow?: boolean } = {}): Inode {
    const { found } = this.#place(path, { syscall, follow });
    if (found === undefined) throw fileError('ENOENT', syscall, path);
    return found;
  }

  directoryAt(path: string, syscall: string): Directory {
    const found = this.at(path, syscall);
    if (found.kind !== 'directory') throw fileError('ENOTDIR', syscall, path);
    return found;
  }

  fileAt(path: string, syscall: string): RegularFile {
    const found = this.at(path, syscall);
    if (found.kind === 'file') return found;
    throw fileError(found.kind === 'directory' ? 'EISDIR' : 'ELOOP', syscall, path);
  }

  realPath(path: string): string {
    const { found, path: real } = this.#place(path, { syscall: 'realpath', follow: true });
    if (found === undefined) throw fileError('ENOENT', 'realpath', path);
    return real;
  }

  /** A path without links, as far as it exists. */
  whereabouts(path: string): string {
    try {
      return this.#place(path, { syscall: 'realpath', follow: true }).path;
    } catch {
      return join(this.whereabouts(dirname(path)), basename(path));
    }
  }

  makeDirectory(path: string, mode = 0o777): void {
    const { directory, name, found } = this.#place(path, { syscall: 'mkdir', follow: false });
    if (found !== undefined) throw fileError('EEXIST', 'mkdir', path);
    this.#change(directory, [[name, this.#directory(mode)]]);
  }

  /** Makes a directory with all above it, and gives the first that it made; what is there stays. */
  makeDirectories(path: string, mode?: number): string | undefined {
    const found = orAbsent(() => this.#place(path, { syscall: 'mkdir', follow: true }).found);
    if (found?.kind === 'directory') return undefined;
    if (found !== undefined) throw fileError('EEXIST', 'mkdir', path);
    // A link that leads nowhere is in the way.
    if (this.find(path, 'mkdir') !== undefined) throw fileError('ENOENT', 'mkdir', path);
    const above = dirname(path);
    const isLost = orAbsent(() => this.at(above, 'mkdir')) === undefined && this.find(above, 'mkdir') !== undefined;
    if (isLost) throw fileError('ENOTDIR', 'mkdir', path);
    const first = this.makeDirectories(above, mode);
    this.makeDirectory(path, mode);
    return first ?? path;
  }

  /** The file at a path, made where there is none. */
  openFile(path: string, { mode = 0o666, exclusive = false }: { mode?: number | undefined; exclusive?: boolean }) {
    const { directory, name, found } = this.#place(path, { syscall: 'open', follow: !exclusive });
    if (found !== undefined && exclusive) throw fileError('EEXIST', 'open', path);
    if (found?.kind === 'directory') throw fileError('EISDIR', 'open', path);
    if (found?.kind === 'file') return found;
    const file: RegularFile = {
      kind: 'file',
      data: NOTHING,
      synced: NOTHING,
      writtenAt: this.#elapsed(),
      ...this.#common(mode),
    };
    this.#change(directory, [[name, file]]);
    return file;
  }

  /** Gives a file its content; on a full disk as much of it as there is room for. */
  write(file: RegularFile, data: Buffer, path: string): void {
    const room = this.capacity - this.#used + file.data.length;
    const written = data.length > room ? data.subarray(0, Math.max(0, room)) : data;
    this.#used += written.length - file.data.length;
    file.data = written;
    file.mtimeMs = this.#now();
    file.writtenAt = this.#elapsed();
    this.#tell(path);
    if (written !== data) throw fileError('ENOSPC', 'write', path);
  }

  link(target: string, path: string): void {
    const { directory, name, found } = this.#place(path, { syscall: 'symlink', follow: false });
    if (found !== undefined) throw fileError('EEXIST', 'symlink', path);
    this.#change(directory, [[name, { kind: 'link', target, ...this.#common(0o777) }]]);
  }

  rename(from: string, to: string): void {
    const source = this.#place(from, { syscall: 'rename', follow: false });
    const target = this.#place(to, { syscall: 'rename', follow: false });
    if (source.found === undefined) throw fileError('ENOENT', 'rename', from);
    if (isMountPoint(source) || isMountPoint(target)) throw fileError('EBUSY', 'rename', from);
    if (source.found === target.found) return;
    if (`${target.path}/`.startsWith(`${source.path}/`)) throw fileError('EINVAL', 'rename', from);
    if (`${source.path}/`.startsWith(`${target.path}/`)) throw fileError('ENOTEMPTY', 'rename', from);
    refuseReplacing(source.found, target.found, to);
    this.#free(target.found);
    this.#mounts.renamed(source.path, target.path);
    if (source.directory === target.directory) {
      this.#change(source.directory, [
        [source.name, undefined],
        [target.name, source.found],
      ]);
      return;
    }
    this.#change(target.directory, [[target.name, source.found]]);
    this.#change(source.directory, [[source.name, undefined]]);
  }

  /** Removes what is no directory. */
  unlink(path: string): void {
    const place = this.#place(path, { syscall: 'unlink', follow: false });
    const { directory, name, found } = place;
    if (found === undefined) throw fileError('ENOENT', 'unlink', path);
    if (isMountPoint(place)) throw fileError('EBUSY', 'unlink', path);
    if (found.kind === 'directory') throw fileError('EISDIR', 'unlink', path);
    this.#free(found);
    this.#change(directory, [[name, undefined]]);
  }

  removeDirectory(path: string): void {
    const place = this.#place(path, { syscall: 'rmdir', follow: false });
    const { directory, name, found } = place;
    if (found === undefined) throw fileError('ENOENT', 'rmdir', path);
    if (found.kind !== 'directory') throw fileError('ENOTDIR', 'rmdir', path);
    if (isMountPoint(place)) throw fileError('EBUSY', 'rmdir', path);
    if (found.entries.size > 0) throw fileError('ENOTEMPTY', 'rmdir', path);
    this.#change(directory, [[name, undefined]]);
  }

  /** What is mounted, in the order in which it was. */
  get mounts(): readonly Mounted[] {
    return this.#mounts.all;
  }

  /** Mounts an empty file system on a directory: what is there is hidden. */
  mount(type: string, path: string, mode = 0o777): void {
    const { found: point, path: real, within: above } = this.#place(path, { syscall: 'mount', follow: true });
    if (point === undefined) throw fileError('ENOENT', 'mount', path);
    if (point.kind !== 'directory') throw fileError('ENOTDIR', 'mount', path);
    this.#mounts.add({ path: real, type, root: this.#directory(mode), point, above });
  }

  /** Shows what a path leads to at another, which is there and likewise a directory or none. */
  bind(source: string, path: string): void {
    const { found: root, path: from, within } = this.#place(source, { syscall: 'mount', follow: true });
    const { found: point, path: real, within: above } = this.#place(path, { syscall: 'mount', follow: true });
    if (root === undefined || point === undefined) throw fileError('ENOENT', 'mount', path);
    if ((root.kind === 'directory') !== (point.kind === 'directory')) throw fileError('ENOTDIR', 'mount', path);
    this.#mounts.add({ path: real, type: within?.type ?? 'ext4', source: from, root, point, above });
  }

  /** Takes away what was last mounted at a path; what is in a file system in memory is lost. */
  unmount(path: string): void {
    const place = this.#place(path, { syscall: 'umount', follow: true });
    const { within } = place;
    if (within === undefined || !isMountPoint(place)) throw fileError('EINVAL', 'umount', path);
    if (!this.#mounts.remove(within)) throw fileError('EBUSY', 'umount', path);
    if (within.source === undefined) this.#free(within.root);
  }

  /** Takes away a mount to which no path leads, as those can who mounted it from a mount namespace of their own. */
  detach(hidden: Mounted): void {
    if (this.#mounts.remove(hidden) && hidden.source === undefined) this.#free(hidden.root);
  }

  /** Follows the names of a directory; gives the way to end that. */
  watch(path: string, listener: DirectoryListener): () => void {
    const directory = this.directoryAt(path, 'watch');
    const listeners = this.#watchers.get(directory) ?? new Set();
    this.#watchers.set(directory, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#watchers.delete(directory);
    };
  }

  /** Makes durable what a file contains, or which names a directory has. */
  sync(inode: Inode): void {
    this.#journal.sync(inode);
  }

  /** Leaves what a power cut leaves; `random` gives numbers in [0, 1). */
  cutPower(random: () => number): void {
    this.#watchers.clear();
    this.#mounts.clear();
    this.#journal.cutPower(this.root, { random, now: this.#elapsed() });
    this.#used = sizeOf(this.root);
  }

  #common(mode: number) {
    this.#lastInode += 1;
    return { ino: this.#lastInode, mode, uid: 0, gid: 0, mtimeMs: this.#now() };
  }

  #directory(mode: number): Directory {
    return { kind: 'directory', entries: new Map(), synced: new Map(), ...this.#common(mode) };
  }

  #change(directory: Directory, change: readonly (readonly [string, Inode | undefined])[]): void {
    this.#journal.change(directory, change, this.#elapsed());
    directory.mtimeMs = this.#now();
    for (const [name] of change) for (const listener of this.#watchers.get(directory) ?? []) listener(name);
  }

  #tell(path: string): void {
    if (this.#watchers.size === 0) return;
    const { directory, name } = this.#place(path, { syscall: 'write', follow: true });
    for (const listener of this.#watchers.get(directory) ?? []) listener(name);
  }

  #free(inode: Inode | undefined): void {
    if (inode !== undefined) this.#used -= sizeOf(inode);
  }

  #place(path: string, how: Walk): Place {
    return placeOf({ root: this.root, mounts: this.#mounts }, path, how);
  }
}

function orAbsent<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function refuseReplacing(source: Inode, target: Inode | undefined, to: string): void {
  if (target === undefined) return;
  if (target.kind !== 'directory') {
    if (source.kind === 'directory') throw fileError('ENOTDIR', 'rename', to);
    return;
  }
  if (source.kind !== 'directory') throw fileError('EISDIR', 'rename', to);
  if (target.entries.size > 0) throw fileError('ENOTEMPTY', 'rename', basename(to));
}
