/** A file system as the agent uses one: the host's own, or one in memory. All that it fails with are errors of Node's. */
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
import { fileTail } from './fileTail.ts';
import { gzipFile } from './gzipFile.ts';
import { mountsUnder } from './mountinfo.ts';
import type { MountPoint } from './mountPoint.ts';
import { removeTree } from './removeTree.ts';
import { isSamePath } from './withoutLinks.ts';

/** What a look at a file tells. */
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

/** What is in a directory. */
type DirectoryEntry = Pick<Dirent, 'name' | 'isDirectory' | 'isSymbolicLink'>;

/** An open file or directory. */
export interface OpenFile {
  readFile(options?: { readonly signal?: AbortSignal }): Promise<Buffer>;
  /** Where it was opened to append, after all that is there. */
  writeFile(data: string | Uint8Array): Promise<void>;
  /** Makes its content durable; of a directory, which names are in it. */
  sync(): Promise<void>;
  chmod(mode: number): Promise<void>;
  stat(): Promise<FileStats>;
  close(): Promise<void>;
}

/**
 * The kind of a change in a directory: an `entry` was created, removed or renamed, or the `content` or the mode of a file
 * has changed. Undefined if the watcher does not know it.
 */
export type DirectoryChange = 'entry' | 'content' | undefined;

/** What follows a directory. */
export interface DirectoryWatcher {
  close(): void;
}

export interface WriteOptions {
  readonly mode?: number;
  /** It is durable at the end. */
  readonly flush?: boolean;
  readonly signal?: AbortSignal;
}

/** What of `node:fs` is used on the files of a node. Modes, flags and options mean what they mean there. */
export interface FileSystem {
  /** So many calls can be under way at a time, of all who make any: nothing takes its thread from one that hangs. */
  readonly threads: number;
  chmod(path: string, mode: number): Promise<void>;
  /** Gives it, be it a link, to a user and a group; -1 leaves one as it is. */
  lchown(path: string, uid: number, gid: number): Promise<void>;
  lstat(path: string): Promise<FileStats>;
  stat(path: string): Promise<FileStats>;
  /** `recursive`: the answer is the first directory that was made, undefined where all are there. */
  mkdir(path: string, options?: { readonly recursive?: boolean; readonly mode?: number }): Promise<string | undefined>;
  /** Makes a directory whose name is the prefix and something that makes it the only one. */
  mkdtemp(prefix: string): Promise<string>;
  open(path: string, flags: string | number, mode?: number): Promise<OpenFile>;
  readdir(path: string): Promise<string[]>;
  entries(path: string): Promise<readonly DirectoryEntry[]>;
  /** The names as they are, which need not be UTF-8. */
  readdirBytes(path: string): Promise<Buffer[]>;
  readFile(path: string, options?: { readonly signal?: AbortSignal }): Promise<string>;
  /** The last bytes of a file, at most so many; no link to one, and nothing that is none. */
  tail(path: string, most: number): Promise<Buffer>;
  readlink(path: string): Promise<string>;
  realpath(path: string): Promise<string>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options?: { readonly recursive?: boolean; readonly force?: boolean }): Promise<void>;
  symlink(target: string, path: string): Promise<void>;
  unlink(path: string): Promise<void>;
  writeFile(path: string, data: string | Uint8Array, options?: WriteOptions): Promise<void>;
  /** Writes the content of a file, compressed, to another, which gets the rights of the first and is durable at the end. */
  gzip(from: string, to: string, signal: AbortSignal): Promise<void>;
  /** Deletes a tree, if it is there; fails with `FailedUnmount`, and deletes nothing where anything is mounted in it. */
  removeTree(directory: string, signal: AbortSignal): Promise<void>;
  /** What is mounted at a directory and below it, the last mounted first. */
  mountsUnder(directory: string, signal: AbortSignal): Promise<readonly MountPoint[]>;
  /** Undefined where there is nothing. */
  lstatSync(path: string): FileStats | undefined;
  readFileSync(path: string): string;
  /** Whether two paths lead to one place, through whatever links. */
  isSamePathSync(one: string, other: string): boolean;
  /** Reports the name of each entry of a directory that was created, changed or removed. Null if the name is not known. */
  watch(
    directory: string,
    listeners: {
      readonly onChange: (name: string | null, change?: DirectoryChange) => void;
      readonly onError: (error: unknown) => void;
    },
  ): DirectoryWatcher;
}

/** Opens what may be a device or a pipe for reading, without waiting for whoever writes it. */
export const NON_BLOCKING = constants.O_RDONLY | constants.O_NONBLOCK;

/** As many as libuv has where nobody says otherwise. */
const THREADS = 4;

/** The host's own. */
export const hostFiles: FileSystem = {
  threads: Number(process.env.UV_THREADPOOL_SIZE) || THREADS,
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
  tail: fileTail,
  gzip: gzipFile,
  removeTree,
  mountsUnder,
  isSamePathSync: isSamePath,
  lstatSync: (path) => lstatSync(path, { throwIfNoEntry: false }),
  readFileSync: (path) => readFileSync(path, 'utf8'),
  watch: (directory, { onChange, onError }) => {
    const watcher = watch(directory, (event, name) => onChange(name, event === 'rename' ? 'entry' : 'content'));
    watcher.on('error', onError);
    return watcher;
  },
};
