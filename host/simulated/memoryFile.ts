/** A file or directory of a disk in memory that is open. */
import { Buffer } from 'node:buffer';
import type { FileStats, OpenFile } from '../files/fileSystem.ts';
import type { FaultyCalls } from './faultyCalls.ts';
import { fileError } from './fileErrors.ts';
import type { Directory, Inode, RegularFile } from './inodes.ts';
import type { MemoryDisk } from './memoryDisk.ts';

interface Opened {
  readonly path: string;
  readonly inode: Directory | RegularFile;
  /** What is written comes after what is there. */
  readonly appends: boolean;
}

/** Goes on with what was opened, whatever becomes of its name. */
export class MemoryFile implements OpenFile {
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
  writeFile = (data: string | Uint8Array) =>
    this.#call('write', true, () => {
      const { path, appends } = this.#opened;
      const file = this.#file();
      const bytes = Buffer.from(data);
      this.#disk.write(file, appends ? Buffer.concat([file.data, bytes]) : bytes, path);
    });
  sync = () => this.#call('fsync', true, () => this.#disk.sync(this.#opened.inode));
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

/** What a look at it tells. */
export function statsOf(inode: Inode): FileStats {
  const { kind, ino, mode, uid, gid, mtimeMs } = inode;
  return {
    ino,
    mode,
    uid,
    gid,
    mtimeMs,
    ctimeMs: mtimeMs,
    dev: 1,
    size: kind === 'file' ? inode.data.length : 0,
    isFile: () => kind === 'file',
    isDirectory: () => kind === 'directory',
    isSymbolicLink: () => kind === 'link',
    isFIFO: () => false,
    isSocket: () => false,
  };
}
