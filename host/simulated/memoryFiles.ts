/** The files of a node on a disk in memory, each call of which can fail as a disk's can. */
import { Buffer } from 'node:buffer';
import { constants } from 'node:fs';
import { join } from 'node:path';
import type { FileStats, FileSystem, OpenFile } from '../files/fileSystem.ts';
import { type FileErrorCode, fileError } from './fileErrors.ts';
import { type Directory, type Inode, type RegularFile, sync } from './inodes.ts';
import type { MemoryDisk } from './memoryDisk.ts';

/** A call that changes or reads a file, by its name in `node:fs`. */
export interface FileCall {
  readonly call: string;
  readonly path: string;
  /** Whether it changes something. */
  readonly writes: boolean;
}

/** What goes wrong with a call: it fails, or it is done and the disk's answer is a failure; or it never answers. */
export type FileFault = FailedCall | { readonly hangs: true };

/** `done`: it fails although it was done. */
interface FailedCall {
  readonly code: FileErrorCode;
  readonly done?: boolean;
}

/** Says what goes wrong with a call, if anything. */
export type FileFaults = (call: FileCall) => FileFault | undefined;

const never = new Promise<never>(() => {});

/** A file system as the agent uses one, over a disk in memory. Each call is answered in a turn of its own. */
export class MemoryFiles implements FileSystem {
  readonly #disk: MemoryDisk;
  readonly #calls: FaultyCalls;

  constructor(disk: MemoryDisk, faults: FileFaults = () => undefined) {
    this.#disk = disk;
    this.#calls = new FaultyCalls(faults);
  }

  access = (path: string) => this.#read('access', path, () => void this.#disk.at(path, 'access'));
  lstat = (path: string) => this.#read('lstat', path, () => statsOf(this.#disk.at(path, 'lstat', { follow: false })));
  stat = (path: string) => this.#read('stat', path, () => statsOf(this.#disk.at(path, 'stat')));
  readdir = (path: string) => this.#read('scandir', path, () => this.#namesAt(path));
  readdirBytes = (path: string) =>
    this.#read('scandir', path, () => this.#namesAt(path).map((name) => Buffer.from(name, 'utf8')));
  readFile = (path: string) => this.#read('open', path, () => this.#textAt(path));
  readlink = (path: string) =>
    this.#read('readlink', path, () => targetOf(this.#disk.at(path, 'readlink', { follow: false }), path));

  chmod = (path: string, mode: number) =>
    this.#write('chmod', path, () => void Object.assign(this.#disk.at(path, 'chmod'), { mode }));
  mkdir = (path: string, { recursive = false, mode }: { recursive?: boolean; mode?: number } = {}) =>
    this.#write('mkdir', path, () =>
      recursive ? this.#disk.makeDirectories(path, mode) : this.#disk.makeDirectory(path, mode),
    );
  rename = (from: string, to: string) => this.#write('rename', from, () => this.#disk.rename(from, to));
  rm = (path: string, options: Removing = {}) => this.#write('rm', path, () => remove(this.#disk, path, options));
  rmdir = (path: string) => this.#write('rmdir', path, () => this.#disk.removeDirectory(path));
  symlink = (target: string, path: string) => this.#write('symlink', path, () => this.#disk.link(target, path));
  unlink = (path: string) => this.#write('unlink', path, () => this.#disk.unlink(path));
  writeFile = (path: string, text: string, { mode }: { mode?: number } = {}) =>
    this.#write('open', path, () => {
      this.#disk.write(this.#disk.openFile(path, { mode }), Buffer.from(text), path);
    });

  open(path: string, flags: string | number, mode?: number): Promise<OpenFile> {
    const call = { call: 'open', path, writes: isCreating(flags) };
    return this.#calls.answer(call, () => {
      const inode = opened(this.#disk, path, { flags, mode });
      return new MemoryFile(this.#disk, this.#calls, { path, inode, appends: flags === 'a' });
    });
  }

  existsSync = (path: string) => isThere(this.#disk, path);
  lstatSync = (path: string) =>
    this.#calls.atOnce({ call: 'lstat', path, writes: false }, () => {
      const there = isThere(this.#disk, path, { follow: false });
      return there ? statsOf(this.#disk.at(path, 'lstat', { follow: false })) : undefined;
    });
  readdirSync = (path: string) =>
    this.#calls.atOnce({ call: 'scandir', path, writes: false }, () => this.#namesAt(path));
  readFileSync = (path: string) => this.#calls.atOnce({ call: 'open', path, writes: false }, () => this.#textAt(path));
  realpathSync = (path: string) =>
    this.#calls.atOnce({ call: 'realpath', path, writes: false }, () => this.#disk.realPath(path));

  watch(directory: string, { onChange }: { readonly onChange: (name: string | null) => void }) {
    return { close: this.#disk.watch(directory, (name) => queueMicrotask(() => onChange(name))) };
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

/** Calls that may fail, or never answer. */
class FaultyCalls {
  readonly #faults: FileFaults;

  constructor(faults: FileFaults) {
    this.#faults = faults;
  }

  async answer<T>(call: FileCall, act: () => T): Promise<T> {
    const fault = this.#faults(call);
    if (fault !== undefined && 'hangs' in fault) return never;
    return done(call, fault, act);
  }

  /** What is asked for on the spot does not hang. */
  atOnce<T>(call: FileCall, act: () => T): T {
    const fault = this.#faults(call);
    return done(call, fault !== undefined && 'hangs' in fault ? undefined : fault, act);
  }
}

function done<T>({ call, path }: FileCall, fault: FailedCall | undefined, act: () => T): T {
  if (fault !== undefined && fault.done !== true) throw fileError(fault.code, call, path);
  const answer = act();
  if (fault !== undefined) throw fileError(fault.code, call, path);
  return answer;
}

function isThere(disk: MemoryDisk, path: string, options?: { follow: boolean }): boolean {
  try {
    disk.at(path, 'access', options);
    return true;
  } catch {
    return false;
  }
}

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

interface Opened {
  readonly path: string;
  readonly inode: Directory | RegularFile;
  /** What is written comes after what is there. */
  readonly appends: boolean;
}

class MemoryFile implements OpenFile {
  readonly #disk: MemoryDisk;
  readonly #calls: FaultyCalls;
  readonly #opened: Opened;
  #isOpen = true;

  constructor(disk: MemoryDisk, calls: FaultyCalls, opened: Opened) {
    this.#disk = disk;
    this.#calls = calls;
    this.#opened = opened;
  }

  readFile = () => this.#call('read', false, () => this.#file().data);
  writeFile = (text: string) =>
    this.#call('write', true, () => {
      const { path, appends } = this.#opened;
      const file = this.#file();
      const bytes = Buffer.from(text);
      this.#disk.write(file, appends ? Buffer.concat([file.data, bytes]) : bytes, path);
    });
  sync = () => this.#call('fsync', true, () => sync(this.#opened.inode));
  chmod = (mode: number) => this.#call('fchmod', true, () => void Object.assign(this.#opened.inode, { mode }));
  stat = () => this.#call('fstat', false, () => statsOf(this.#opened.inode));

  async close(): Promise<void> {
    this.#isOpen = false;
  }

  #call<T>(call: string, writes: boolean, act: () => T): Promise<T> {
    const { path } = this.#opened;
    return this.#calls.answer({ call, path, writes }, () => {
      if (!this.#isOpen) throw fileError('EBADF', call, path);
      return act();
    });
  }

  #file(): RegularFile {
    const { inode, path } = this.#opened;
    if (inode.kind === 'file') return inode;
    throw fileError('EISDIR', 'read', path);
  }
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

function statsOf(inode: Inode): FileStats {
  const { kind, ino, mode, uid, gid, mtimeMs } = inode;
  return {
    ...{ ino, mode, uid, gid, mtimeMs, dev: 1, size: kind === 'file' ? inode.data.length : 0 },
    isFile: () => kind === 'file',
    isDirectory: () => kind === 'directory',
    isSymbolicLink: () => kind === 'link',
    isFIFO: () => false,
    isSocket: () => false,
  };
}
