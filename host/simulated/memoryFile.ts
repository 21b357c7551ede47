/** An open file or directory of a simulated disk. */
import { Buffer } from 'node:buffer';
import type { FileStats, OpenFile } from '../files/fileSystem.ts';
import type { FaultInjector } from './faultyCalls.ts';
import { fileError } from './fileError.ts';
import type { Directory, Inode, RegularFile } from './inodes.ts';
import type { MemoryDisk } from './memoryDisk.ts';

interface OpenedInode {
  readonly path: string;
  readonly inode: Directory | RegularFile;
  /** Whether writes append to the file. */
  readonly isAppending: boolean;
}

/** An open file, which remains usable after it has been renamed or unlinked. */
export class MemoryFile implements OpenFile {
  readonly #disk: MemoryDisk;
  readonly #faultInjector: FaultInjector;
  readonly #openedInode: OpenedInode;
  #isOpen = true;

  constructor(disk: MemoryDisk, calls: FaultInjector, opened: OpenedInode) {
    this.#disk = disk;
    this.#faultInjector = calls;
    this.#openedInode = opened;
  }

  readFile = () => this.#runCall('read', false, () => this.#requireFile().data);
  writeFile = (data: string | Uint8Array) =>
    this.#runCall('write', true, () => {
      const { path, isAppending } = this.#openedInode;
      const file = this.#requireFile();
      const bytes = Buffer.from(data);
      this.#disk.write(file, isAppending ? Buffer.concat([file.data, bytes]) : bytes, path);
    });
  sync = () => this.#runCall('fsync', true, () => this.#disk.sync(this.#openedInode.inode));
  chmod = (mode: number) => this.#runCall('fchmod', true, () => void Object.assign(this.#openedInode.inode, { mode }));
  stat = () => this.#runCall('fstat', false, () => toStats(this.#openedInode.inode));

  async close(): Promise<void> {
    this.#isOpen = false;
  }

  #runCall<T>(call: string, isWrite: boolean, operation: () => T): Promise<T> {
    const { path } = this.#openedInode;
    return this.#faultInjector.run({ call, path, writes: isWrite }, () => {
      if (!this.#isOpen) throw fileError('EBADF', call, path);
      return operation();
    });
  }

  #requireFile(): RegularFile {
    const { inode, path } = this.#openedInode;
    if (inode.kind === 'file') return inode;
    throw fileError('EISDIR', 'read', path);
  }
}

/** Converts an inode to the result of `stat`. */
export function toStats(inode: Inode): FileStats {
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
