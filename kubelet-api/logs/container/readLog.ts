/** Reads and follows one file of a container's log like a kubelet (cri-client, logs.go). */
import { dirname } from 'node:path';
import { isMissing } from '../../../host/files/fileErrors.ts';
import { LogChanges, type Pause } from '../../../host/logs/logChanges.ts';
import { isReplaced, type LogFile, openLog } from './logFile.ts';
import { LogScan, type ScanOptions } from './logScan.ts';
import { tailStart } from './logTail.ts';
import { BufferPool } from './rooms.ts';

export interface LogSource {
  /** Path of the log according to the runtime. */
  readonly path: string;
  /** Directories that may contain logs, after resolving symlinks. */
  readonly roots: readonly string[];
}

export interface ReadOptions extends Omit<ScanOptions, 'lines'> {
  readonly tailLines?: number | undefined;
  /** If defined, the log is followed until the container has exited. */
  readonly follow?: FollowOptions | undefined;
  readonly pause: Pause;
  readonly signal: AbortSignal;
}

interface FollowOptions {
  /** Called after all data has been read, at most once a second. A rejection stops reading. */
  readonly isRunning: () => Promise<boolean>;
}

/**
 * Size of a block. The output of one block is the only long-lived memory of a reader. With TLS, there is also an
 * encrypted copy.
 */
const BLOCK_BYTES = 16 * 1_024;
/** Size of a read-ahead. Larger reads reduce the number of calls to the thread pool. */
const READ_AHEAD_BYTES = 256 * 1_024;
/** Lifetime of a read-ahead, in milliseconds. If the client is slower, the data is read again. */
const READ_AHEAD_TTL_MS = 100;

const EMPTY: Buffer = Buffer.alloc(0);
const BLOCK_POOL = new BufferPool(BLOCK_BYTES, 8);
/** Maximum number of concurrent read-aheads. Other readers read single blocks. */
const READ_AHEAD_POOL = new BufferPool(READ_AHEAD_BYTES, 4);

/**
 * Yields the text of a log in parts. Each part is only valid until the next one is requested. Throws errors with the
 * kubelet's messages. Rotated files are not read, unlike in `statelet logs`.
 */
export async function* readLog(source: LogSource, options: ReadOptions): AsyncGenerator<Buffer> {
  const reading = new LogReader(source, await openLog(source.path, source.roots), options);
  try {
    yield* reading.text();
  } finally {
    await reading.close();
  }
}

class LogReader {
  readonly #source: LogSource;
  readonly #options: ReadOptions;
  readonly #scan: LogScan;
  #file: LogFile;
  #at = 0;
  /** Bytes at offset `#at` that have already been read. */
  #ahead = EMPTY;
  /** The buffer of the read-ahead, if there is one. */
  #readAheadBuffer: Buffer | undefined;
  #hasMore = false;
  #isReading = false;
  #isOverdue = false;
  /** Whether the last read returned no data. */
  #wasEnd = false;

  constructor(source: LogSource, file: LogFile, options: ReadOptions) {
    this.#source = source;
    this.#file = file;
    this.#options = options;
    this.#scan = new LogScan({ ...options, lines: options.follow ? undefined : options.tailLines });
  }

  close(): Promise<void> {
    this.#releaseReadAhead();
    return this.#file.handle.close();
  }

  async *text(): AsyncGenerator<Buffer> {
    const { tailLines, follow, signal } = this.#options;
    if (tailLines !== undefined) this.#at = await tailStart(this.#file.handle, tailLines, signal);
    if (follow !== undefined) return yield* this.#follow(follow);
    // Stop at the current size, because a fast writer could otherwise extend the response forever.
    yield* this.#toEnd((await this.#file.handle.stat()).size);
    const rest = this.#isOver() ? undefined : this.#scan.takeRest();
    if (rest !== undefined) yield rest;
  }

  /** Yields the text up to an offset. The block itself is released while its text is sent. */
  async *#toEnd(to = Infinity): AsyncGenerator<Buffer> {
    if (this.#isOver()) return;
    while (this.#at < to) {
      const text = await this.#nextText(to);
      if (text !== undefined) yield text;
      if (this.#isOver() || this.#wasEnd) return;
    }
  }

  async #nextText(to: number): Promise<Buffer | undefined> {
    if (this.#ahead.length > 0) return this.#take(to);
    const block = (this.#hasMore ? this.#takeReadAhead() : undefined) ?? BLOCK_POOL.take();
    try {
      await this.#read(block, to - this.#at);
      return this.#take(to);
    } finally {
      if (block !== this.#readAheadBuffer) {
        this.#ahead = EMPTY;
        BLOCK_POOL.release(block);
      } else if (this.#isOverdue) this.#releaseReadAhead();
    }
  }

  #take(to: number): Buffer | undefined {
    const block = this.#ahead.subarray(0, Math.min(BLOCK_BYTES, to - this.#at));
    this.#ahead = this.#ahead.subarray(block.length);
    this.#at += block.length;
    this.#wasEnd = block.length === 0;
    return this.#scan.take(block);
  }

  async #read(room: Buffer, most: number): Promise<void> {
    const length = Math.min(room.length, most);
    this.#isReading = true;
    try {
      const { bytesRead } = await this.#file.handle.read(room, 0, length, this.#at);
      this.#hasMore = bytesRead === length;
      this.#ahead = room.subarray(0, bytesRead);
    } finally {
      this.#isReading = false;
    }
  }

  /** Returns a buffer for a read-ahead, or undefined if too many readers use one. */
  #takeReadAhead(): Buffer | undefined {
    if (this.#readAheadBuffer !== undefined) return this.#readAheadBuffer;
    this.#readAheadBuffer = READ_AHEAD_POOL.takeIfAvailable();
    if (this.#readAheadBuffer !== undefined) void this.#expireReadAhead();
    return this.#readAheadBuffer;
  }

  async #expireReadAhead(): Promise<void> {
    const { pause, signal } = this.#options;
    await pause(READ_AHEAD_TTL_MS, signal);
    // A read in progress still uses the buffer.
    if (this.#isReading) this.#isOverdue = true;
    else this.#releaseReadAhead();
  }

  #releaseReadAhead(): void {
    if (this.#readAheadBuffer === undefined) return;
    READ_AHEAD_POOL.release(this.#readAheadBuffer);
    this.#readAheadBuffer = undefined;
    this.#isOverdue = false;
    this.#ahead = EMPTY;
  }

  async *#follow({ isRunning }: FollowOptions): AsyncGenerator<Buffer> {
    const changes = new LogChanges(dirname(this.#file.path), this.#options.pause, this.#options.signal);
    let [hasEnded, failure] = [false, undefined as { readonly cause: unknown } | undefined];
    const look = async () => {
      hasEnded = !(await isRunning().catch((cause: unknown) => {
        failure = { cause };
      }));
      if (hasEnded) changes.wake();
    };
    try {
      while (!this.#isOver()) {
        // The log is complete if the container had exited before this read.
        const isLast = hasEnded;
        yield* this.#toEnd();
        if (!this.#isOver() && (await isReplaced(this.#file))) {
          // Read the data that was written before the file was renamed.
          yield* this.#toEnd();
          if (await this.#reopen()) continue;
        }
        if (failure !== undefined) throw failure.cause;
        if (isLast) return;
        await changes.nextChange(look);
      }
    } finally {
      changes.close();
    }
  }

  /** Switches to the new file at the path. Returns false if there is none. */
  async #reopen(): Promise<boolean> {
    const next = await openLog(this.#source.path, this.#source.roots).catch((error: unknown) => {
      if (!(error instanceof Error && isMissing(error.cause))) throw error;
    });
    if (next === undefined) return false;
    await this.#file.handle.close();
    this.#file = next;
    this.#at = 0;
    this.#ahead = EMPTY;
    this.#scan.restart();
    return true;
  }

  #isOver = (): boolean => this.#scan.isOver || this.#options.signal.aborted;
}
