/**
 * Defines the agent's file system interface, which is implemented by the host's file system and by a simulation.
 * Failures are Node.js errors.
 */
import { constants, type Dirent, lstatSync, readFileSync, type Stats, watch } from 'node:fs';
import {
  chmod,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { readTail } from './fileTail.ts';
import { gzipFile } from './gzipFile.ts';
import { listMountsUnder } from './mountinfo.ts';
import type { MountPoint } from './mountPoint.ts';
import { removeTree } from './removeTree.ts';
import { isSamePath } from './withoutLinks.ts';

export type FileStats = Pick<
  Stats,
  | 'isFile'
  | 'isDirectory'
  | 'isSymbolicLink'
  | 'isFIFO'
  | 'isSocket'
  | 'size'
  | 'dev'
  | 'ino'
  | 'mode'
  | 'uid'
  | 'gid'
  | 'mtimeMs'
  | 'ctimeMs'
>;

type DirectoryEntry = Pick<Dirent, 'name' | 'isDirectory' | 'isSymbolicLink'>;

export interface OpenFile {
  readFile(options?: { readonly signal?: AbortSignal }): Promise<Buffer>;
  /** Writes the file. If it was opened for appending, writes after the existing contents. */
  writeFile(data: string | Uint8Array): Promise<void>;
  /** Makes the contents of a file or the entries of a directory durable. */
  sync(): Promise<void>;
  chmod(mode: number): Promise<void>;
  stat(): Promise<FileStats>;
  close(): Promise<void>;
}

/**
 * Kind of directory change: an `entry` was created, removed or renamed, or the `content` or the mode of a file has
 * changed. Undefined if unknown.
 */
export type DirectoryChange = 'entry' | 'content' | undefined;

export interface DirectoryWatcher {
  close(): void;
}

export interface WriteOptions {
  readonly mode?: number;
  /** Whether to make the contents durable before the call returns. */
  readonly flush?: boolean;
  readonly signal?: AbortSignal;
}

/** Subset of `node:fs` that the node uses. Modes, flags and options have the same meaning as in `node:fs`. */
export interface FileSystem {
  /** Number of threads, which limits the total number of concurrent calls. A call that hangs blocks one thread. */
  readonly threadCount: number;
  chmod(path: string, mode: number): Promise<void>;
  /** Changes the owner and the group of a file or link. -1 leaves the value unchanged. */
  lchown(path: string, uid: number, gid: number): Promise<void>;
  lstat(path: string): Promise<FileStats>;
  stat(path: string): Promise<FileStats>;
  /**
   * Creates a directory. With `recursive`, returns the first directory that was created, or undefined if all
   * directories of the path already existed.
   */
  mkdir(path: string, options?: { readonly recursive?: boolean; readonly mode?: number }): Promise<string | undefined>;
  /** Creates a directory with a unique name that starts with the prefix. */
  mkdtemp(prefix: string): Promise<string>;
  open(path: string, flags: string | number, mode?: number): Promise<OpenFile>;
  readdir(path: string): Promise<string[]>;
  entries(path: string): Promise<readonly DirectoryEntry[]>;
  /** Returns the names as buffers, because file names need not be valid UTF-8. */
  readdirBytes(path: string): Promise<Buffer[]>;
  readFile(path: string, options?: { readonly signal?: AbortSignal }): Promise<string>;
  /** Returns the last bytes of a regular file, at most `maxBytes`. Does not follow links. */
  tail(path: string, maxBytes: number): Promise<Buffer>;
  readlink(path: string): Promise<string>;
  realpath(path: string): Promise<string>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options?: { readonly recursive?: boolean; readonly force?: boolean }): Promise<void>;
  symlink(target: string, path: string): Promise<void>;
  unlink(path: string): Promise<void>;
  writeFile(path: string, data: string | Uint8Array, options?: WriteOptions): Promise<void>;
  /** Compresses a file into a new file with the same mode. The new file is durable when the call returns. */
  gzip(from: string, to: string, signal: AbortSignal): Promise<void>;
  /**
   * Deletes a directory tree if it exists. Fails with `FailedUnmount` if anything is mounted in it, in which case
   * nothing is deleted.
   */
  removeTree(directory: string, signal: AbortSignal): Promise<void>;
  /** Lists the mount points at a directory and below it, most recent mount first. */
  mountsUnder(directory: string, signal: AbortSignal): Promise<readonly MountPoint[]>;
  /** Returns undefined if the path does not exist. */
  lstatSync(path: string): FileStats | undefined;
  readFileSync(path: string): string;
  /** Whether two paths resolve to the same file. */
  isSamePathSync(a: string, b: string): boolean;
  /**
   * Reports the names of entries that are created, changed or removed in a directory. The name is null if it is
   * unknown.
   */
  watch(
    directory: string,
    listeners: {
      readonly onChange: (name: string | null, change?: DirectoryChange) => void;
      readonly onError: (error: unknown) => void;
    },
  ): DirectoryWatcher;
}

/** Flags for opening a device or pipe without waiting for a writer. */
export const NON_BLOCKING = constants.O_RDONLY | constants.O_NONBLOCK;

/** Default size of libuv's thread pool. */
const DEFAULT_THREADS = 4;

export const hostFiles: FileSystem = {
  threadCount: Number(process.env.UV_THREADPOOL_SIZE) || DEFAULT_THREADS,
  chmod,
  lchown,
  lstat,
  stat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
  unlink,
  writeFile,
  entries: (path) => readdir(path, { withFileTypes: true }),
  readdirBytes: (path) => readdir(path, { encoding: 'buffer' }),
  readFile: (path, options) => readFile(path, { encoding: 'utf8', ...options }),
  tail: readTail,
  gzip: gzipFile,
  removeTree,
  mountsUnder: listMountsUnder,
  isSamePathSync: isSamePath,
  lstatSync: (path) => lstatSync(path, { throwIfNoEntry: false }),
  readFileSync: (path) => readFileSync(path, 'utf8'),
  watch: (directory, { onChange, onError }) => {
    const watcher = watch(directory, (event, name) => onChange(name, event === 'rename' ? 'entry' : 'content'));
    watcher.on('error', onError);
    return watcher;
  },
};
