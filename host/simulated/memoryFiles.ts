/** The files of a node on a disk in memory, each call of which can fail as a disk's can. */
import { Buffer } from 'node:buffer';
import { constants } from 'node:fs';
import { join } from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import { isMissing } from '../files/fileErrors.ts';
import type { FileSystem, OpenFile, WriteOptions } from '../files/fileSystem.ts';
import { FaultyCalls, type FileFaults } from './faultyCalls.ts';
import { fileError } from './fileErrors.ts';
import type { Directory, Inode, RegularFile } from './inodes.ts';
import type { MemoryDisk } from './memoryDisk.ts';
import { MemoryFile, statsOf } from './memoryFile.ts';
import { mountsUnder } from './memoryMounts.ts';

/** A file system as the agent uses one, over a disk in memory. Each call is answered in a turn of its own. */
export class MemoryFiles implements FileSystem {
  /** As many as the command line gives its process. */
  readonly threads: number = 8;
  readonly #disk: MemoryDisk;
  readonly #calls: FaultyCalls;

  constructor(disk: MemoryDisk, faults: FileFaults = () => undefined) {
    this.#disk = disk;
    this.#calls = new FaultyCalls(faults);
  }

  lstat = (path: string) => this.#read('lstat', path, () => statsOf(this.#disk.at(path, 'lstat', { follow: false })));
  stat = (path: string) => this.#read('stat', path, () => statsOf(this.#disk.at(path, 'stat')));
  readdir = (path: string) => this.#read('scandir', path, () => this.#namesAt(path));
  entries = (path: string) =>
    this.#read('scandir', path, () =>
      [...this.#disk.directoryAt(path, 'scandir').entries].map(([name, { kind }]) => ({
        name,
        isDirectory: () => kind === 'directory',
        isSymbolicLink: () => kind === 'link',
      })),
    );
  readdirBytes = (path: string) =>
    this.#read('scandir', path, () => this.#namesAt(path).map((name) => Buffer.from(name, 'utf8')));
  readFile = (path: string) => this.#read('open', path, () => this.#textAt(path));
  tail = (path: string, most: number) =>
    this.#read('open', path, () => {
      const found = this.#disk.at(path, 'open', { follow: false });
      if (found.kind === 'link') throw fileError('ELOOP', 'open', path);
      if (found.kind === 'directory') throw new Error('it is not a regular file');
      return found.data.subarray(Math.max(0, found.data.length - most));
    });
  readlink = (path: string) =>
    this.#read('readlink', path, () => targetOf(this.#disk.at(path, 'readlink', { follow: false }), path));

  realpath = (path: string) => this.#read('realpath', path, () => this.#disk.realPath(path));

  chmod = (path: string, mode: number) =>
    this.#write('chmod', path, () => void Object.assign(this.#disk.at(path, 'chmod'), { mode }));
  lchown = (path: string, uid: number, gid: number) =>
    this.#write('lchown', path, () => {
      const found = this.#disk.at(path, 'lchown', { follow: false });
      Object.assign(found, uid < 0 ? {} : { uid }, gid < 0 ? {} : { gid });
    });
  mkdir = (path: string, { recursive = false, mode }: { recursive?: boolean; mode?: number } = {}) =>
    this.#write('mkdir', path, () =>
      recursive ? this.#disk.makeDirectories(path, mode) : void this.#disk.makeDirectory(path, mode),
    );
  mkdtemp = (prefix: string) =>
    this.#write('mkdtemp', prefix, () => {
      for (let count = 0; ; count += 1) {
        const path = `${prefix}${String(count).padStart(6, '0')}`;
        if (this.#disk.find(path, 'mkdtemp') !== undefined) continue;
        this.#disk.makeDirectory(path, 0o700);
        return path;
      }
    });
  rename = (from: string, to: string) => this.#write('rename', from, () => this.#disk.rename(from, to));
  rm = (path: string, options: Removing = {}) => this.#write('rm', path, () => remove(this.#disk, path, options));
  symlink = (target: string, path: string) => this.#write('symlink', path, () => this.#disk.link(target, path));
  unlink = (path: string) => this.#write('unlink', path, () => this.#disk.unlink(path));
  // Not compressed: what comes of that is not the same bytes on every machine.
  gzip = (from: string, to: string, signal: AbortSignal) =>
    this.#write('open', to, () => {
      signal.throwIfAborted();
      const { data, mode } = this.#disk.fileAt(from, 'open');
      const file = this.#disk.openFile(to, { mode });
      this.#disk.write(file, data, to);
      this.#disk.sync(file);
    });
  removeTree = (directory: string, signal: AbortSignal) =>
    this.#write('rm', directory, () => {
      signal.throwIfAborted();
      const list = mountsUnder(this.#disk, directory).map(({ path }) => path);
      if (list.length > 0)
        throw new NodeFailure('FailedUnmount', `not deleting ${directory}: still mounted: ${list.join(', ')}`);
      if (isThere(this.#disk, directory, { follow: false })) remove(this.#disk, directory, { recursive: true });
    });
  mountsUnder = (directory: string, signal: AbortSignal) =>
    this.#read('mountinfo', directory, () => {
      signal.throwIfAborted();
      return mountsUnder(this.#disk, directory);
    });

  open(path: string, flags: string | number, mode?: number): Promise<OpenFile> {
    const call = { call: 'open', path, writes: isCreating(flags) };
    return this.#calls.answer(call, () => {
      const inode = opened(this.#disk, path, { flags, mode });
      return new MemoryFile(this.#disk, this.#calls, { path, inode, appends: isAppending(flags) });
    });
  }

  lstatSync = (path: string) =>
    this.#calls.atOnce({ call: 'lstat', path, writes: false }, () => {
      const found = this.#disk.find(path, 'lstat');
      return found && statsOf(found);
    });
  readFileSync = (path: string) => this.#calls.atOnce({ call: 'open', path, writes: false }, () => this.#textAt(path));
  isSamePathSync = (one: string, other: string) =>
    one === other || this.#disk.whereabouts(one) === this.#disk.whereabouts(other);

  /** Truncated first, and then written: it may be cut off between the two. */
  async writeFile(
    path: string,
    data: string | Uint8Array,
    { mode, flush = false, signal }: WriteOptions = {},
  ): Promise<void> {
    signal?.throwIfAborted();
    const file = await this.open(path, 'w', mode);
    await file.writeFile(data);
    if (flush) await file.sync();
  }

  /** For who looks at the disk from outside. */
  existsSync(path: string): boolean {
    try {
      return isThere(this.#disk, path);
    } catch {
      return false;
    }
  }

  /** As above. */
  readdirSync(path: string): string[] {
    return this.#namesAt(path);
  }

  watch(directory: string, { onChange }: { readonly onChange: (name: string | null) => void }) {
    const tell = (name: string) => queueMicrotask(() => onChange(name));
    const call = { call: 'watch', path: directory, writes: false };
    return { close: this.#calls.atOnce(call, () => this.#disk.watch(directory, tell)) };
  }

  #read<T>(call: string, path: string, act: () => T): Promise<T> {
    return this.#calls.answer({ call, path, writes: false }, act);
  }

  #write<T>(call: string, path: string, act: () => T): Promise<T> {
    return this.#calls.answer({ call, path, writes: true }, act);
  }

  #textAt(path: string): string {
    return this.#disk.fileAt(path, 'open').data.toString('utf8');
  }

  #namesAt(path: string): string[] {
    return [...this.#disk.directoryAt(path, 'scandir').entries.keys()];
  }
}

function isThere(disk: MemoryDisk, path: string, options?: { follow: boolean }): boolean {
  try {
    disk.at(path, 'access', options);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

const isAppending = (flags: string | number): boolean =>
  typeof flags === 'string' ? flags.startsWith('a') : (flags & constants.O_APPEND) !== 0;

const isCreating = (flags: string | number): boolean =>
  typeof flags === 'string' ? flags !== 'r' : (flags & constants.O_CREAT) !== 0;

interface Opening {
  readonly flags: string | number;
  readonly mode: number | undefined;
}

function opened(disk: MemoryDisk, path: string, { flags, mode }: Opening): Directory | RegularFile {
  if (!isCreating(flags)) {
    const found = disk.at(path, 'open');
    if (found.kind !== 'link') return found;
    throw fileError('ELOOP', 'open', path);
  }
  const file = disk.openFile(path, { mode, exclusive: typeof flags === 'string' && flags.includes('x') });
  if (typeof flags === 'string' && flags.startsWith('w')) disk.write(file, Buffer.alloc(0), path);
  return file;
}

interface Removing {
  readonly recursive?: boolean;
  readonly force?: boolean;
}

function remove(disk: MemoryDisk, path: string, options: Removing): void {
  const { recursive = false, force = false } = options;
  const found = disk.find(path, 'rm');
  if (found === undefined) {
    if (force) return;
    throw fileError('ENOENT', 'rm', path);
  }
  if (found.kind !== 'directory') {
    disk.unlink(path);
    return;
  }
  if (!recursive) throw fileError('ERR_FS_EISDIR', 'rm', path);
  for (const name of [...found.entries.keys()]) remove(disk, join(path, name), options);
  disk.removeDirectory(path);
}

function targetOf(inode: Inode, path: string): string {
  if (inode.kind === 'link') return inode.target;
  throw fileError('EINVAL', 'readlink', path);
}
