/** What a tree takes on its disk, as `du` counts: each file once, in blocks, with the directories that hold the names. */
import { closeSync, constants, type Dir, fstatSync, lstatSync, opendirSync, openSync, type Stats } from 'node:fs';
import { nextTurn } from '../../base/nextTurn.ts';
import { errorCode, isForbidden, isMissing } from '../files/fileErrors.ts';

export interface DiskUsage {
  /** Blocks that are taken, not how long files are. */
  readonly bytes: number;
  readonly inodes: number;
}

const BLOCK = 512;
const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Each directory takes two handles while what is in it is walked. */
const MOST_DEPTH = 400;
/** So many are looked at before it is asked whether it has to end. */
const ENTRIES_A_TURN = 500;

/** What one file takes. */
export const takenBy = ({ blocks }: Pick<Stats, 'blocks'>): number => blocks * BLOCK;

/**
 * Walks a tree and gives what is in it (`DiskUsage` in `pkg/volume/util/fs/fs.go`): no link is followed, no other file
 * system is entered, and a file of several names counts once. What vanishes meanwhile is not counted, nor what is in a
 * directory that cannot be read. It takes all of the process's time: it is to be called in one of its own. Fails with the
 * signal, and where directories nest deeper than 400 levels.
 */
export async function diskUsageOf(root: string, signal: AbortSignal): Promise<DiskUsage> {
  const found = lstatSync(root);
  const walk = new Walk(found.dev, signal);
  await walk.enter(root, found, 0);
  return { bytes: walk.bytes, inodes: walk.inodes };
}

class Walk {
  bytes = 0;
  inodes = 0;
  readonly #device: number;
  readonly #signal: AbortSignal;
  /** Those of several names that were counted. */
  readonly #counted = new Set<number>();
  #looked = 0;

  constructor(device: number, signal: AbortSignal) {
    this.#device = device;
    this.#signal = signal;
  }

  async enter(path: string | Buffer, found: Stats, depth: number): Promise<void> {
    this.#count(found);
    if (found.dev !== this.#device || !found.isDirectory()) return;
    if (depth > MOST_DEPTH) throw new Error(`directories nest deeper than ${MOST_DEPTH} levels`);
    const fd = ifReadable(() => openSync(path, DIRECTORY));
    if (fd === undefined) return;
    try {
      // What has this name now may be another than what was looked at.
      if (fstatSync(fd).dev === this.#device) await this.#inside(fd, depth);
    } finally {
      closeSync(fd);
    }
  }

  async #inside(fd: number, depth: number): Promise<void> {
    const directory = ifReadable(() => openDirectory(fd));
    if (directory === undefined) return;
    try {
      for (let name = nextName(directory); name !== undefined; name = nextName(directory)) {
        await this.#breathe();
        const inner = Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), name]);
        const found = ifReadable(() => lstatSync(inner));
        if (found?.isDirectory()) await this.enter(inner, found, depth + 1);
        else if (found !== undefined) this.#count(found);
      }
    } finally {
      directory.closeSync();
    }
  }

  #count(found: Stats): void {
    if (found.dev !== this.#device || !this.#isNew(found)) return;
    this.bytes += takenBy(found);
    this.inodes += 1;
  }

  /** A directory has as many names as it has directories, and is met once all the same. */
  #isNew(found: Stats): boolean {
    if (found.nlink < 2 || found.isDirectory()) return true;
    if (this.#counted.has(found.ino)) return false;
    this.#counted.add(found.ino);
    return true;
  }

  async #breathe(): Promise<void> {
    this.#looked += 1;
    if (this.#looked % ENTRIES_A_TURN === 0) await nextTurn();
    this.#signal.throwIfAborted();
  }
}

/** Node.js takes this encoding, and then gives each name in bytes; its types do not say so. */
const openDirectory = (fd: number): Dir => opendirSync(`/proc/self/fd/${fd}`, { encoding: 'buffer' as BufferEncoding });
const nextName = (directory: Dir): Buffer | undefined => directory.readSync()?.name as Buffer | undefined;

/** Undefined of what has gone, has become a link, or is closed to this process. */
function ifReadable<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (isMissing(error) || isForbidden(error) || errorCode(error) === 'ELOOP') return undefined;
    throw error;
  }
}
