/** The file system of a node on a simulated disk, with injected faults. */
import { Buffer } from 'node:buffer';
import { constants } from 'node:fs';
import { join } from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import { isMissing } from '../files/fileErrors.ts';
import type { FileSystem, OpenFile, WriteOptions } from '../files/fileSystem.ts';
import { FaultInjector, type GetFileFault } from './faultyCalls.ts';
import { fileError } from './fileError.ts';
import type { Directory, Inode, RegularFile } from './inodes.ts';
import type { MemoryDisk } from './memoryDisk.ts';
import { MemoryFile, toStats } from './memoryFile.ts';
import { mountsUnder } from './memoryMounts.ts';

/** A file system on a simulated disk. Each asynchronous call completes in a separate turn of the event loop. */
export class MemoryFiles implements FileSystem {
  /** Size of the thread pool, as configured by the command line. */
  readonly threadCount: number = 8;
  readonly #disk: MemoryDisk;
  readonly #faultInjector: FaultInjector;

  constructor(disk: MemoryDisk, faults: GetFileFault = () => undefined) {
    this.#disk = disk;
    this.#faultInjector = new FaultInjector(faults);
  }

  lstat = (path: string) =>
    this.#runRead('lstat', path, () => toStats(this.#disk.inodeAt(path, 'lstat', { follow: false })));
  stat = (path: string) => this.#runRead('stat', path, () => toStats(this.#disk.inodeAt(path, 'stat')));
  readdir = (path: string) => this.#runRead('scandir', path, () => this.#listNames(path));
  entries = (path: string) =>
    this.#runRead('scandir', path, () =>
      [...this.#disk.directoryAt(path, 'scandir').entries].map(([name, { kind }]) => ({
        name,
        isDirectory: () => kind === 'directory',
        isSymbolicLink: () => kind === 'link',
      })),
    );
  readdirBytes = (path: string) =>
    this.#runRead('scandir', path, () => this.#listNames(path).map((name) => Buffer.from(name, 'utf8')));
  readFile = (path: string) => this.#runRead('open', path, () => this.#readText(path));
  tail = (path: string, maxBytes: number) =>
    this.#runRead('open', path, () => {
      const inode = this.#disk.inodeAt(path, 'open', { follow: false });
      if (inode.kind === 'link') throw fileError('ELOOP', 'open', path);
      if (inode.kind === 'directory') throw new Error('it is not a regular file');
      return inode.data.subarray(Math.max(0, inode.data.length - maxBytes));
    });
  readlink = (path: string) =>
    this.#runRead('readlink', path, () =>
      requireLinkTarget(this.#disk.inodeAt(path, 'readlink', { follow: false }), path),
    );

  realpath = (path: string) => this.#runRead('realpath', path, () => this.#disk.realPath(path));

  chmod = (path: string, mode: number) =>
    this.#runWrite('chmod', path, () => void Object.assign(this.#disk.inodeAt(path, 'chmod'), { mode }));
  lchown = (path: string, uid: number, gid: number) =>
    this.#runWrite('lchown', path, () => {
      const inode = this.#disk.inodeAt(path, 'lchown', { follow: false });
      Object.assign(inode, uid < 0 ? {} : { uid }, gid < 0 ? {} : { gid });
    });
  mkdir = (path: string, { recursive = false, mode }: { recursive?: boolean; mode?: number } = {}) =>
    this.#runWrite('mkdir', path, () =>
      recursive ? this.#disk.createDirectories(path, mode) : void this.#disk.makeDirectory(path, mode),
    );
  mkdtemp = (prefix: string) =>
    this.#runWrite('mkdtemp', prefix, () => {
      for (let count = 0; ; count += 1) {
        const path = `${prefix}${String(count).padStart(6, '0')}`;
        if (this.#disk.find(path, 'mkdtemp') !== undefined) continue;
        this.#disk.makeDirectory(path, 0o700);
        return path;
      }
    });
  rename = (from: string, to: string) => this.#runWrite('rename', from, () => this.#disk.rename(from, to));
  rm = (path: string, options: RemoveOptions = {}) =>
    this.#runWrite('rm', path, () => removePath(this.#disk, path, options));
  symlink = (target: string, path: string) => this.#runWrite('symlink', path, () => this.#disk.link(target, path));
  unlink = (path: string) => this.#runWrite('unlink', path, () => this.#disk.unlink(path));
  // Copies the file without compressing it, because the compressed bytes would depend on the machine.
  gzip = (from: string, to: string, signal: AbortSignal) =>
    this.#runWrite('open', to, () => {
      signal.throwIfAborted();
      const { data, mode } = this.#disk.fileAt(from, 'open');
      const file = this.#disk.openFile(to, { mode });
      this.#disk.write(file, data, to);
      this.#disk.sync(file);
    });
  removeTree = (directory: string, signal: AbortSignal) =>
    this.#runWrite('rm', directory, () => {
      signal.throwIfAborted();
      const mountedPaths = mountsUnder(this.#disk, directory).map(({ path }) => path);
      if (mountedPaths.length > 0)
        throw new NodeFailure('FailedUnmount', `not deleting ${directory}: still mounted: ${mountedPaths.join(', ')}`);
      if (exists(this.#disk, directory, { follow: false })) removePath(this.#disk, directory, { recursive: true });
    });
  mountsUnder = (directory: string, signal: AbortSignal) =>
    this.#runRead('mountinfo', directory, () => {
      signal.throwIfAborted();
      return mountsUnder(this.#disk, directory);
    });

  open(path: string, flags: string | number, mode?: number): Promise<OpenFile> {
    const fileCall = { call: 'open', path, writes: createsFile(flags) };
    return this.#faultInjector.run(fileCall, () => {
      const inode = openInode(this.#disk, path, { flags, mode });
      return new MemoryFile(this.#disk, this.#faultInjector, { path, inode, isAppending: appendsToFile(flags) });
    });
  }

  lstatSync = (path: string) =>
    this.#faultInjector.runSync({ call: 'lstat', path, writes: false }, () => {
      const inode = this.#disk.find(path, 'lstat');
      return inode && toStats(inode);
    });
  readFileSync = (path: string) =>
    this.#faultInjector.runSync({ call: 'open', path, writes: false }, () => this.#readText(path));
  isSamePathSync = (a: string, b: string) => a === b || this.#disk.resolveExisting(a) === this.#disk.resolveExisting(b);

  /** Truncates the file and then writes it, so that a fault can occur in between. */
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

  /** Reads the disk without faults, for observers outside the node. */
  existsSync(path: string): boolean {
    try {
      return exists(this.#disk, path);
    } catch {
      return false;
    }
  }

  /** Reads the disk without faults, for observers outside the node. */
  readdirSync(path: string): string[] {
    return this.#listNames(path);
  }

  watch(directory: string, { onChange }: { readonly onChange: (name: string | null) => void }) {
    const notify = (name: string) => queueMicrotask(() => onChange(name));
    const fileCall = { call: 'watch', path: directory, writes: false };
    return { close: this.#faultInjector.runSync(fileCall, () => this.#disk.watch(directory, notify)) };
  }

  #runRead<T>(call: string, path: string, operation: () => T): Promise<T> {
    return this.#faultInjector.run({ call, path, writes: false }, operation);
  }

  #runWrite<T>(call: string, path: string, operation: () => T): Promise<T> {
    return this.#faultInjector.run({ call, path, writes: true }, operation);
  }

  #readText(path: string): string {
    return this.#disk.fileAt(path, 'open').data.toString('utf8');
  }

  #listNames(path: string): string[] {
    return [...this.#disk.directoryAt(path, 'scandir').entries.keys()];
  }
}

function exists(disk: MemoryDisk, path: string, options?: { follow: boolean }): boolean {
  try {
    disk.inodeAt(path, 'access', options);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

const appendsToFile = (flags: string | number): boolean =>
  typeof flags === 'string' ? flags.startsWith('a') : (flags & constants.O_APPEND) !== 0;

const createsFile = (flags: string | number): boolean =>
  typeof flags === 'string' ? flags !== 'r' : (flags & constants.O_CREAT) !== 0;

interface OpenOptions {
  readonly flags: string | number;
  readonly mode: number | undefined;
}

function openInode(disk: MemoryDisk, path: string, { flags, mode }: OpenOptions): Directory | RegularFile {
  if (!createsFile(flags)) {
    const inode = disk.inodeAt(path, 'open');
    if (inode.kind !== 'link') return inode;
    throw fileError('ELOOP', 'open', path);
  }
  const file = disk.openFile(path, { mode, exclusive: typeof flags === 'string' && flags.includes('x') });
  if (typeof flags === 'string' && flags.startsWith('w')) disk.write(file, Buffer.alloc(0), path);
  return file;
}

interface RemoveOptions {
  readonly recursive?: boolean;
  readonly force?: boolean;
}

function removePath(disk: MemoryDisk, path: string, options: RemoveOptions): void {
  const { recursive = false, force = false } = options;
  const inode = disk.find(path, 'rm');
  if (inode === undefined) {
    if (force) return;
    throw fileError('ENOENT', 'rm', path);
  }
  if (inode.kind !== 'directory') {
    disk.unlink(path);
    return;
  }
  if (!recursive) throw fileError('ERR_FS_EISDIR', 'rm', path);
  for (const name of [...inode.entries.keys()]) removePath(disk, join(path, name), options);
  disk.removeDirectory(path);
}

function requireLinkTarget(inode: Inode, path: string): string {
  if (inode.kind === 'link') return inode.target;
  throw fileError('EINVAL', 'readlink', path);
}
