/**
 * Measures the disk usage of a directory tree like `du`. Counts allocated blocks, includes directories, and counts each
 * file only once.
 */
import { closeSync, constants, type Dir, fstatSync, lstatSync, opendirSync, openSync, type Stats } from 'node:fs';
import { yieldToEventLoop } from '../../base/async/yieldToEventLoop.ts';
import { errorCode, isForbidden, isMissing } from '../files/fileErrors.ts';

export interface DiskUsage {
  /** Size of the allocated blocks, as opposed to the lengths of the files. */
  readonly bytes: number;
  readonly inodes: number;
}

const BLOCK_BYTES = 512;
const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Maximum depth of directories. Deeper trees are rejected, because each level needs two file descriptors. */
const MAX_DEPTH = 400;
/** Number of entries after which the walk checks whether it has been aborted. */
const MAX_ENTRIES_PER_TURN = 500;

/** Returns the allocated size of a file in bytes. */
export const allocatedBytes = ({ blocks }: Pick<Stats, 'blocks'>): number => blocks * BLOCK_BYTES;

/**
 * Measures a directory tree (`DiskUsage` in `pkg/volume/util/fs/fs.go`). Does not follow links or enter other file
 * systems, and counts a file with several names once. Skips entries that disappear and unreadable directories. Blocks
 * the event loop for a long time, so it must run in a separate process. Rejects if the signal aborts or if directories
 * are nested deeper than 400 levels.
 */
export async function measureDiskUsage(root: string, signal: AbortSignal): Promise<DiskUsage> {
  const stats = lstatSync(root);
  const walk = new TreeWalk(stats.dev, signal);
  await walk.enter(root, stats, 0);
  return { bytes: walk.bytes, inodes: walk.inodes };
}

class TreeWalk {
  bytes = 0;
  inodes = 0;
  readonly #device: number;
  readonly #signal: AbortSignal;
  /** Inode numbers of the files that have several hard links and have already been counted. */
  readonly #countedInodeNumbers = new Set<number>();
  #visitedEntries = 0;

  constructor(device: number, signal: AbortSignal) {
    this.#device = device;
    this.#signal = signal;
  }

  async enter(path: string | Buffer, stats: Stats, depth: number): Promise<void> {
    this.#count(stats);
    if (stats.dev !== this.#device || !stats.isDirectory()) return;
    if (depth > MAX_DEPTH) throw new Error(`directories nest deeper than ${MAX_DEPTH} levels`);
    const fd = undefinedIfUnreadable(() => openSync(path, DIRECTORY_FLAGS));
    if (fd === undefined) return;
    try {
      // Check the device of the opened directory, because a different directory may be at the path by now.
      if (fstatSync(fd).dev === this.#device) await this.#walkEntries(fd, depth);
    } finally {
      closeSync(fd);
    }
  }

  async #walkEntries(fd: number, depth: number): Promise<void> {
    const directory = undefinedIfUnreadable(() => openDirectory(fd));
    if (directory === undefined) return;
    try {
      for (let name = readNextName(directory); name !== undefined; name = readNextName(directory)) {
        await this.#yieldToEventLoop();
        const entryPath = Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), name]);
        const stats = undefinedIfUnreadable(() => lstatSync(entryPath));
        if (stats?.isDirectory()) await this.enter(entryPath, stats, depth + 1);
        else if (stats !== undefined) this.#count(stats);
      }
    } finally {
      directory.closeSync();
    }
  }

  #count(stats: Stats): void {
    if (stats.dev !== this.#device || !this.#isFirstVisit(stats)) return;
    this.bytes += allocatedBytes(stats);
    this.inodes += 1;
  }

  /** Whether a file has not been counted yet. Directories have several links but are visited only once. */
  #isFirstVisit(stats: Stats): boolean {
    if (stats.nlink < 2 || stats.isDirectory()) return true;
    if (this.#countedInodeNumbers.has(stats.ino)) return false;
    this.#countedInodeNumbers.add(stats.ino);
    return true;
  }

  async #yieldToEventLoop(): Promise<void> {
    this.#visitedEntries += 1;
    if (this.#visitedEntries % MAX_ENTRIES_PER_TURN === 0) await yieldToEventLoop();
    this.#signal.throwIfAborted();
  }
}

/**
 * Opens a directory whose names are returned as buffers. The casts are safe, because Node.js supports this encoding,
 * although its types do not say so.
 */
const openDirectory = (fd: number): Dir => opendirSync(`/proc/self/fd/${fd}`, { encoding: 'buffer' as BufferEncoding });
const readNextName = (directory: Dir): Buffer | undefined => directory.readSync()?.name as Buffer | undefined;

/** Returns undefined if the entry has disappeared, has become a link, or is not readable. */
function undefinedIfUnreadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isMissing(error) || isForbidden(error) || errorCode(error) === 'ELOOP') return undefined;
    throw error;
  }
}
