/** Reads the log of a container run, which consists of several files, and optionally follows it. */
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { type LinePart, LineSplitter } from './lineSplitter.ts';
import { isCompressed, isDamagedFile, readBlocks, readHead, readPlainBlocks } from './logBlocks.ts';
import { LogChanges, type Pause } from './logChanges.ts';
import { LogText, type LogTextOptions } from './logText.ts';
import {
  closeLogFiles,
  type LogDirectory,
  type LogFile,
  type LogLocation,
  type OpenLog,
  openLogDirectory,
} from './openLog.ts';
import { findTailStart, type TailStart } from './tailStart.ts';
import type { UnpackedTails } from './unpackedTails.ts';

/** Options for reading a log, as in PodLogOptions. */
export interface LogOptions extends LogTextOptions {
  /** Number of lines at the end of the log to return, counted across all files. Undefined to return all lines. */
  readonly tailLines?: number | undefined;
  /** Maximum number of bytes to read backwards for `tailLines`. The first line may be truncated. */
  readonly tailBytes?: number | undefined;
  /** Cache of the ends of compressed files, for callers that frequently read only the ends. */
  readonly unpackedTails?: UnpackedTails | undefined;
  /**
   * Options for following the log across rotations until the run has ended and its log has been read completely.
   * Undefined if the log is not followed.
   */
  readonly follow?: FollowOptions | undefined;
  /** Called for a damaged compressed file, of which only the readable part is returned. */
  readonly onDamaged?: ((file: string, why: string) => void) | undefined;
  /** Cancels reading. */
  readonly signal: AbortSignal;
}

interface FollowOptions {
  /**
   * Called once a second. Returns whether the run is still in progress. If it rejects, the run is assumed to be in
   * progress.
   */
  readonly isRunning: () => Promise<boolean>;
  readonly pause: Pause;
}

/**
 * Yields the contents of a log in chunks, with stdout and stderr combined. Throws a `NodeFailure` if the log does not
 * exist, is not in the CRI's format or cannot be read.
 */
export async function* readLog(location: LogLocation, options: LogOptions): AsyncGenerator<Buffer> {
  const directory = await openLogDirectory(location);
  if (directory === undefined) throw createMissingLogFailure(location);
  const reader = new LogReader(directory, options);
  try {
    yield* reader.chunks(location);
  } finally {
    await reader.close();
  }
}

const createMissingLogFailure = ({ directory, run }: LogLocation): NodeFailure =>
  new NodeFailure('NotFound', `${directory}/${run}.log does not exist`);

/** Time in milliseconds for which a runtime may continue to write to a rotated file. */
const REOPEN_DELAY_MS = 100;
/**
 * Tolerance in milliseconds for comparing modification times, which some file systems store with a coarse resolution.
 */
const MTIME_TOLERANCE_MS = 2_000;
/** Number of bytes at the start of a log file that identify it. The timestamps of the lines make these bytes unique. */
const IDENTIFYING_BYTES = 512;

class LogReader {
  readonly #directory: LogDirectory;
  readonly #options: LogOptions;
  readonly #logText: LogText;
  readonly #splitter = new LineSplitter();
  #openLog: OpenLog = { files: [], knownNames: new Set() };
  /** Position up to which the current file has been read. */
  #position = 0;

  constructor(directory: LogDirectory, options: LogOptions) {
    this.#directory = directory;
    this.#options = options;
    this.#logText = new LogText(options);
  }

  async close(): Promise<void> {
    await closeLogFiles(this.#openLog.files);
    await this.#directory.close();
  }

  async *chunks(location: LogLocation): AsyncGenerator<Buffer> {
    const { tailLines, tailBytes, unpackedTails, follow, signal } = this.#options;
    this.#openLog = await this.#directory.open();
    const currentFile = this.#openLog.files.at(-1);
    if (currentFile === undefined) throw createMissingLogFailure(location);
    const tailStart =
      tailLines === undefined
        ? undefined
        : await findTailStart(this.#openLog.files, tailLines, { maxBytes: tailBytes, unpackedTails, signal });
    this.#logText.skip(tailStart?.linesToSkip ?? 0);
    yield* this.#readRotated(tailStart);
    if (tailStart?.file === this.#openLog.files.length - 1) this.#position = tailStart.from;
    if (await isCompressed(currentFile.handle)) yield* this.#readCompressedCurrent(currentFile);
    // Without `follow`, ignore data that is written from now on. Otherwise, the read might never end if the writer is
    // fast.
    yield* this.#readCurrent(currentFile, follow ? Infinity : (await currentFile.handle.stat()).size);
    this.#assertLogFormat();
    if (follow && !this.#isDone()) yield* this.#followLog(currentFile, follow);
    // Omit an incomplete last line if `tailLines` is set, because it does not count as one of the lines.
    else if (tailLines === undefined) yield* this.#emit(this.#splitter.flush());
  }

  /** Reads the rotated files from `start` on. Skips files whose last change precedes `since`. */
  async *#readRotated(start: TailStart | undefined): AsyncGenerator<Buffer> {
    const { since = -Infinity } = this.#options;
    for (const [index, file] of this.#openLog.files.slice(0, -1).entries()) {
      if (index < (start?.file ?? 0) || this.#isDone()) continue;
      const isOlder = (await file.handle.stat()).mtimeMs < since - MTIME_TOLERANCE_MS;
      if (isOlder) this.#logText.skip(0);
      else yield* this.#readWholeFile(file, index === start?.file ? start.from : 0);
    }
  }

  /** Reads a file to its end. An incomplete last line does not continue in the next file. */
  async *#readWholeFile(file: LogFile, from = 0): AsyncGenerator<Buffer> {
    yield* this.#emitBlocks(file, this.#readContents(file, from));
    yield* this.#finishFile();
  }

  async *#readContents({ handle }: LogFile, from: number): AsyncGenerator<Buffer> {
    const { unpackedTails, signal } = this.#options;
    if (unpackedTails !== undefined && (await isCompressed(handle)))
      yield (await unpackedTails.tailOf(handle, signal)).text;
    else yield* readBlocks(handle, from);
  }

  async *#finishFile(): AsyncGenerator<Buffer> {
    yield* this.#emit(this.#splitter.flush());
    this.#logText.endFile();
  }

  /**
   * Reads a current file that a rotation has already compressed, which happens if the runtime has not created a new one
   * yet.
   */
  async *#readCompressedCurrent(file: LogFile): AsyncGenerator<Buffer> {
    yield* this.#readWholeFile(file);
    this.#position = (await file.handle.stat()).size;
  }

  /** Reads the data that has been added to the current file since the last read. */
  async *#readCurrent(file: LogFile, to = Infinity): AsyncGenerator<Buffer> {
    // If the file has been truncated, read it again from the start.
    if ((await file.handle.stat()).size < this.#position) this.#position = 0;
    yield* this.#emitBlocks(file, readPlainBlocks(file.handle, { from: this.#position, to }), (length) => {
      this.#position += length;
    });
  }

  async *#emitBlocks(
    { path }: LogFile,
    blocks: AsyncIterable<Buffer>,
    onRead: (length: number) => void = () => {},
  ): AsyncGenerator<Buffer> {
    try {
      for await (const block of blocks) {
        onRead(block.length);
        yield* this.#emit(this.#splitter.parts(block));
        if (this.#isDone()) return;
      }
    } catch (cause) {
      const problem = messageOf(cause);
      if (!isDamagedFile(cause)) throw new NodeFailure('FailedRead', `${path}: ${problem}`, { cause });
      this.#options.onDamaged?.(path, problem);
    }
  }

  *#emit(parts: Iterable<LinePart>): Generator<Buffer> {
    for (const part of parts) this.#logText.add(part);
    const outputChunk = this.#logText.takeOutput();
    if (outputChunk !== undefined) yield outputChunk;
  }

  async *#followLog(initialFile: LogFile, { isRunning, pause }: FollowOptions): AsyncGenerator<Buffer> {
    const logChanges = new LogChanges(this.#directory.path, pause, this.#options.signal);
    let [current, hasEnded] = [initialFile, false];
    const hasRunEnded = async () => !(await isRunning()) || (await this.#directory.isRemoved());
    const poll = async () => {
      hasEnded = await hasRunEnded().catch(() => false);
      if (hasEnded) logChanges.wake();
    };
    try {
      while (!this.#isDone()) {
        // If the run has ended, its output has been written completely, so this is the last pass.
        const isLastPass = hasEnded;
        yield* this.#readCurrent(current);
        const nextLog = await this.#openNext(current);
        if (nextLog) {
          await pause(REOPEN_DELAY_MS, this.#options.signal);
          yield* this.#readCurrent(current);
          current = yield* this.#switchTo(nextLog, current);
        } else if (isLastPass) return yield* this.#emit(this.#splitter.flush());
        else await logChanges.nextChange(poll);
      }
    } finally {
      logChanges.close();
    }
  }

  /** Returns the files that follow `current` in the log, or undefined if there are none. */
  async #openNext(current: LogFile): Promise<OpenLog | undefined> {
    if (await this.#directory.isCurrent(current)) return undefined;
    const { files, knownNames } = await this.#directory.openNewFiles(this.#openLog.knownNames);
    const [first] = files;
    const skippedCount = first !== undefined && (await isSameLogFile(first, current)) ? 1 : 0;
    await closeLogFiles(files.slice(0, skippedCount));
    return files.length > skippedCount ? { files: files.slice(skippedCount), knownNames } : undefined;
  }

  /** Finishes the current file, reads the rotated ones that follow, and returns the new current file. */
  async *#switchTo(next: OpenLog, current: LogFile): AsyncGenerator<Buffer, LogFile> {
    yield* this.#finishFile();
    await closeLogFiles(this.#openLog.files);
    this.#openLog = next;
    for (const file of next.files.slice(0, -1)) yield* this.#readWholeFile(file);
    this.#position = 0;
    return next.files.at(-1) ?? current;
  }

  /** Throws if the file contains no line in the log format. */
  #assertLogFormat(): void {
    const invalidLine = this.#logText.invalidLine();
    if (invalidLine === undefined) return;
    throw new NodeFailure('FailedRead', `unsupported log format: ${JSON.stringify(invalidLine.toString('utf8'))}`);
  }

  #isDone = (): boolean => this.#logText.isFull() || this.#options.signal.aborted;
}

/** Whether two open files are the same log file, even if one of them is its compressed version. */
async function isSameLogFile(a: LogFile, b: LogFile): Promise<boolean> {
  const [first, second] = await Promise.all([a, b].map(({ handle }) => readHead(handle, IDENTIFYING_BYTES)));
  const commonLength = Math.min(first?.length ?? 0, second?.length ?? 0);
  if (commonLength > 0)
    return first?.subarray(0, commonLength).equals(second?.subarray(0, commonLength) ?? Buffer.alloc(0)) ?? false;
  const [{ ino: firstInode }, { ino: secondInode }] = await Promise.all([a.handle.stat(), b.handle.stat()]);
  return firstInode === secondInode;
}
