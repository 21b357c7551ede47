/**
 * Reads and follows one file of a container's log in the same way as the kubelet
 * (`staging/src/k8s.io/cri-client/pkg/logs/logs.go`).
 */
import { dirname } from 'node:path';
import { isMissing } from '../../../host/files/fileErrors.ts';
import { LogChanges, type Pause } from '../../../host/logs/logChanges.ts';
import { BufferPool } from './bufferPool.ts';
import { findTailStart } from './findTailStart.ts';
import { isReplaced, type LogFile, openLog } from './logFile.ts';
import { LogScan, type ScanOptions } from './logScan.ts';

export interface LogSource {
  /** Path of the log according to the runtime. */
  readonly path: string;
  /** Directories that may contain logs. Symlinks that lead out of them are not followed. */
  readonly allowedRoots: readonly string[];
}

export interface ReadOptions extends Omit<ScanOptions, 'lines'> {
  readonly tailLines?: number | undefined;
  /** If defined, the log is followed until the container has exited. */
  readonly follow?: FollowOptions | undefined;
  readonly pause: Pause;
  readonly signal: AbortSignal;
}

interface FollowOptions {
  /**
   * Returns whether the container is running. Called after all data has been read, at most once a second. A rejection
   * stops reading.
   */
  readonly isRunning: () => Promise<boolean>;
}

/**
 * Size of a block. The only memory that a reader retains for long is the output of one block, plus an encrypted copy of
 * the output if TLS is used.
 */
const BLOCK_BYTES = 16 * 1_024;
/** Size of a read-ahead. Larger reads reduce the number of calls to the thread pool. */
const READ_AHEAD_BYTES = 256 * 1_024;
/** Lifetime of a read-ahead, in milliseconds. If the client reads more slowly, the data is read from the file again. */
const READ_AHEAD_TTL_MS = 100;

const EMPTY_BUFFER: Buffer = Buffer.alloc(0);
const BLOCK_POOL = new BufferPool(BLOCK_BYTES, 8);
/** Maximum number of concurrent read-aheads. All other readers read single blocks. */
const READ_AHEAD_POOL = new BufferPool(READ_AHEAD_BYTES, 4);

/**
 * Yields the text of a log in chunks. Each chunk is valid only until the next one is requested. Throws errors with the
 * kubelet's messages. Does not read rotated files, unlike `statelet logs`.
 */
export async function* readLog(source: LogSource, options: ReadOptions): AsyncGenerator<Buffer> {
  const logReader = new LogReader(source, await openLog(source.path, source.allowedRoots), options);
  try {
    yield* logReader.readChunks();
  } finally {
    await logReader.close();
  }
}

class LogReader {
  readonly #source: LogSource;
  readonly #options: ReadOptions;
  readonly #scan: LogScan;
  #file: LogFile;
  #at = 0;
  /** Bytes at offset `#at` that have already been read. */
  #readAhead = EMPTY_BUFFER;
  #readAheadBuffer: Buffer | undefined;
  #hasMore = false;
  #isReading = false;
  #isReadAheadExpired = false;
  /** Whether the last read returned no data. */
  #hasReachedEnd = false;

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

  async *readChunks(): AsyncGenerator<Buffer> {
    const { tailLines, follow, signal } = this.#options;
    if (tailLines !== undefined) this.#at = await findTailStart(this.#file.handle, tailLines, signal);
    if (follow !== undefined) return yield* this.#follow(follow);
    // Stop at the current size, because a fast writer could otherwise extend the response indefinitely.
    yield* this.#toEnd((await this.#file.handle.stat()).size);
    const incompleteLine = this.#isFinished() ? undefined : this.#scan.convertIncompleteLine();
    if (incompleteLine !== undefined) yield incompleteLine;
  }

  /** Yields the text up to an offset. Releases each block while its text is being sent. */
  async *#toEnd(to = Infinity): AsyncGenerator<Buffer> {
    if (this.#isFinished()) return;
    while (this.#at < to) {
      const text = await this.#readNextText(to);
      if (text !== undefined) yield text;
      if (this.#isFinished() || this.#hasReachedEnd) return;
    }
  }

  async #readNextText(to: number): Promise<Buffer | undefined> {
    if (this.#readAhead.length > 0) return this.#takeBlock(to);
    const block = (this.#hasMore ? this.#takeReadAhead() : undefined) ?? BLOCK_POOL.take();
    try {
      await this.#fillBuffer(block, to - this.#at);
      return this.#takeBlock(to);
    } finally {
      if (block !== this.#readAheadBuffer) {
        this.#readAhead = EMPTY_BUFFER;
        BLOCK_POOL.release(block);
      } else if (this.#isReadAheadExpired) this.#releaseReadAhead();
    }
  }

  #takeBlock(to: number): Buffer | undefined {
    const block = this.#readAhead.subarray(0, Math.min(BLOCK_BYTES, to - this.#at));
    this.#readAhead = this.#readAhead.subarray(block.length);
    this.#at += block.length;
    this.#hasReachedEnd = block.length === 0;
    return this.#scan.convertBlock(block);
  }

  async #fillBuffer(buffer: Buffer, maxBytes: number): Promise<void> {
    const length = Math.min(buffer.length, maxBytes);
    this.#isReading = true;
    try {
      const { bytesRead } = await this.#file.handle.read(buffer, 0, length, this.#at);
      this.#hasMore = bytesRead === length;
      this.#readAhead = buffer.subarray(0, bytesRead);
    } finally {
      this.#isReading = false;
    }
  }

  /** Returns a buffer for a read-ahead, or undefined if all of these buffers are in use. */
  #takeReadAhead(): Buffer | undefined {
    if (this.#readAheadBuffer !== undefined) return this.#readAheadBuffer;
    this.#readAheadBuffer = READ_AHEAD_POOL.takeIfAvailable();
    if (this.#readAheadBuffer !== undefined) void this.#expireReadAhead();
    return this.#readAheadBuffer;
  }

  async #expireReadAhead(): Promise<void> {
    const { pause, signal } = this.#options;
    await pause(READ_AHEAD_TTL_MS, signal);
    // Do not release the buffer yet, because a read in progress still uses it.
    if (this.#isReading) this.#isReadAheadExpired = true;
    else this.#releaseReadAhead();
  }

  #releaseReadAhead(): void {
    if (this.#readAheadBuffer === undefined) return;
    READ_AHEAD_POOL.release(this.#readAheadBuffer);
    this.#readAheadBuffer = undefined;
    this.#isReadAheadExpired = false;
    this.#readAhead = EMPTY_BUFFER;
  }

  async *#follow({ isRunning }: FollowOptions): AsyncGenerator<Buffer> {
    const logChanges = new LogChanges(dirname(this.#file.path), this.#options.pause, this.#options.signal);
    let [hasEnded, failure] = [false, undefined as { readonly cause: unknown } | undefined];
    const checkForChanges = async () => {
      hasEnded = !(await isRunning().catch((cause: unknown) => {
        failure = { cause };
      }));
      if (hasEnded) logChanges.wake();
    };
    try {
      while (!this.#isFinished()) {
        // The log is complete if the container had exited before this read.
        const isLastRead = hasEnded;
        yield* this.#toEnd();
        if (!this.#isFinished() && (await isReplaced(this.#file))) {
          // Read the data that was written before the file was renamed.
          yield* this.#toEnd();
          if (await this.#reopenLog()) continue;
        }
        if (failure !== undefined) throw failure.cause;
        if (isLastRead) return;
        await logChanges.nextChange(checkForChanges);
      }
    } finally {
      logChanges.close();
    }
  }

  /** Switches to the new file at the log's path. Returns false if the path does not exist. */
  async #reopenLog(): Promise<boolean> {
    const nextFile = await openLog(this.#source.path, this.#source.allowedRoots).catch((error: unknown) => {
      if (!(error instanceof Error && isMissing(error.cause))) throw error;
    });
    if (nextFile === undefined) return false;
    await this.#file.handle.close();
    this.#file = nextFile;
    this.#at = 0;
    this.#readAhead = EMPTY_BUFFER;
    this.#scan.restart();
    return true;
  }

  #isFinished = (): boolean => this.#scan.isOver || this.#options.signal.aborted;
}
