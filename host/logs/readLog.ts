/** Reads the log of a run of a container: all of its files in their order, and further as it is written. */
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { type LinePart, LineSplitter } from './lineSplitter.ts';
import { blocksOf, headOf, isCompressed, isDamage, plainBlocks } from './logBlocks.ts';
import { LogChanges, type Pause } from './logChanges.ts';
import { LogText, type TextOptions } from './logText.ts';
import { closeAll, type LogDirectory, type LogFile, type LogPlace, type OpenLog, openLogDirectory } from './openLog.ts';
import { type TailStart, tailStart } from './tailStart.ts';
import type { UnpackedTails } from './unpackedTails.ts';

/** What is wanted of a log, as with PodLogOptions. */
export interface LogOptions extends TextOptions {
  /** Only the last so many lines, counted over all files. */
  readonly tailLines?: number | undefined;
  /** Maximum number of bytes that `tailLines` reads back in the files, even if the first line is cut. */
  readonly tailBytes?: number | undefined;
  /** Ends of compressed files, for a caller that reads only ends no longer than these, and often. */
  readonly tails?: UnpackedTails | undefined;
  /** Goes on with what is written, over rotations, until the run has ended and all of it was read. */
  readonly follow?: Following | undefined;
  /** Told of a compressed file that is damaged: its beginning is read, as far as it goes. */
  readonly onDamaged?: ((file: string, why: string) => void) | undefined;
  /** Ends the reading early. */
  readonly signal: AbortSignal;
}

interface Following {
  /** Asked once a second: whether the run that writes the log goes on. As long as nobody can tell it does. */
  readonly isRunning: () => Promise<boolean>;
  readonly pause: Pause;
}

/**
 * The text of a log in chunks of a few blocks of the disk, both streams together. Throws a `NodeFailure` where there is no
 * such log, where it is not in the CRI's format, and where it cannot be read.
 */
export async function* readLog(place: LogPlace, options: LogOptions): AsyncGenerator<Buffer> {
  const directory = await openLogDirectory(place);
  if (directory === undefined) throw missing(place);
  const reading = new Reading(directory, options);
  try {
    yield* reading.chunks(place);
  } finally {
    await reading.close();
  }
}

const missing = ({ directory, run }: LogPlace): NodeFailure =>
  new NodeFailure('NotFound', `${directory}/${run}.log does not exist`);

/** How long a runtime may write to the old file when there is a new one, in milliseconds. */
const LAST_WRITES_MS = 100;
/** What is written now may be shown as written a little earlier: file systems count coarsely. */
const SLACK_MS = 2_000;
/** What tells one file of a log from another, for each line has its moment. */
const HEAD = 512;

class Reading {
  readonly #directory: LogDirectory;
  readonly #options: LogOptions;
  readonly #text: LogText;
  readonly #splitter = new LineSplitter();
  #open: OpenLog = { files: [], known: new Set() };
  /** Up to where the file that is written to has been read. */
  #at = 0;

  constructor(directory: LogDirectory, options: LogOptions) {
    this.#directory = directory;
    this.#options = options;
    this.#text = new LogText(options);
  }

  async close(): Promise<void> {
    await closeAll(this.#open.files);
    await this.#directory.close();
  }

  async *chunks(place: LogPlace): AsyncGenerator<Buffer> {
    const { tailLines, tailBytes, tails, follow, signal } = this.#options;
    this.#open = await this.#directory.open();
    const present = this.#open.files.at(-1);
    if (present === undefined) throw missing(place);
    const start =
      tailLines === undefined
        ? undefined
        : await tailStart(this.#open.files, tailLines, { mostBytes: tailBytes, tails, signal });
    this.#text.skip(start?.skip ?? 0);
    yield* this.#former(start);
    if (start?.file === this.#open.files.length - 1) this.#at = start.from;
    if (await isCompressed(present.handle)) yield* this.#packed(present);
    // What is written meanwhile is not asked for: whoever writes fast would not let it end.
    yield* this.#present(present, follow ? Infinity : (await present.handle.stat()).size);
    this.#expectLog();
    if (follow && !this.#isOver()) yield* this.#follow(present, follow);
    // A line without an end is none of the last lines.
    else if (tailLines === undefined) yield* this.#told(this.#splitter.rest());
  }

  /** The files that are not written to any more. */
  async *#former(start: TailStart | undefined): AsyncGenerator<Buffer> {
    const { since = -Infinity } = this.#options;
    for (const [index, file] of this.#open.files.slice(0, -1).entries()) {
      if (index < (start?.file ?? 0) || this.#isOver()) continue;
      const isOlder = (await file.handle.stat()).mtimeMs < since - SLACK_MS;
      if (isOlder) this.#text.skip(0);
      else yield* this.#whole(file, index === start?.file ? start.from : 0);
    }
  }

  /** All of a file, which goes on in no other. */
  async *#whole(file: LogFile, from = 0): AsyncGenerator<Buffer> {
    yield* this.#blocks(file, this.#textOf(file, from));
    yield* this.#endOfFile();
  }

  async *#textOf({ handle }: LogFile, from: number): AsyncGenerator<Buffer> {
    const { tails, signal } = this.#options;
    if (tails !== undefined && (await isCompressed(handle))) yield (await tails.of(handle, signal)).text;
    else yield* blocksOf(handle, from);
  }

  async *#endOfFile(): AsyncGenerator<Buffer> {
    yield* this.#told(this.#splitter.rest());
    this.#text.endFile();
  }

  /** The last file is compressed where the runtime has made no other yet. */
  async *#packed(file: LogFile): AsyncGenerator<Buffer> {
    yield* this.#whole(file);
    this.#at = (await file.handle.stat()).size;
  }

  /** As much as there is now of the file that is written to, from where it was left. */
  async *#present(file: LogFile, to = Infinity): AsyncGenerator<Buffer> {
    // Somebody has emptied it.
    if ((await file.handle.stat()).size < this.#at) this.#at = 0;
    yield* this.#blocks(file, plainBlocks(file.handle, { from: this.#at, to }), (length) => {
      this.#at += length;
    });
  }

  async *#blocks(
    { path }: LogFile,
    blocks: AsyncIterable<Buffer>,
    onRead: (length: number) => void = () => {},
  ): AsyncGenerator<Buffer> {
    try {
      for await (const block of blocks) {
        onRead(block.length);
        yield* this.#told(this.#splitter.parts(block));
        if (this.#isOver()) return;
      }
    } catch (cause) {
      const why = messageOf(cause);
      if (!isDamage(cause)) throw new NodeFailure('FailedRead', `${path}: ${why}`, { cause });
      this.#options.onDamaged?.(path, why);
    }
  }

  *#told(parts: Iterable<LinePart>): Generator<Buffer> {
    for (const part of parts) this.#text.take(part);
    const chunk = this.#text.taken();
    if (chunk !== undefined) yield chunk;
  }

  async *#follow(first: LogFile, { isRunning, pause }: Following): AsyncGenerator<Buffer> {
    const changes = new LogChanges(this.#directory.path, pause, this.#options.signal);
    let [present, hasEnded] = [first, false];
    const isEnded = async () => !(await isRunning()) || (await this.#directory.isGone());
    const look = async () => {
      hasEnded = await isEnded().catch(() => false);
      if (hasEnded) changes.wake();
    };
    try {
      while (!this.#isOver()) {
        // What was written before the end is there by now.
        const isLast = hasEnded;
        yield* this.#present(present);
        const next = await this.#next(present);
        if (next) {
          await pause(LAST_WRITES_MS, this.#options.signal);
          yield* this.#present(present);
          present = yield* this.#goOver(next, present);
        } else if (isLast) return yield* this.#told(this.#splitter.rest());
        else await changes.next(look);
      }
    } finally {
      changes.end();
    }
  }

  /** What the log goes on in, once there is a newer file than the one that was read last. */
  async #next(present: LogFile): Promise<OpenLog | undefined> {
    if (await this.#directory.isPresent(present)) return undefined;
    const { files, known } = await this.#directory.openNew(this.#open.known);
    const [first] = files;
    const own = first !== undefined && (await isSame(first, present)) ? 1 : 0;
    await closeAll(files.slice(0, own));
    return files.length > own ? { files: files.slice(own), known } : undefined;
  }

  /** Ends with the present file, and reads on to the one that is written to now. */
  async *#goOver(next: OpenLog, present: LogFile): AsyncGenerator<Buffer, LogFile> {
    yield* this.#endOfFile();
    await closeAll(this.#open.files);
    this.#open = next;
    for (const file of next.files.slice(0, -1)) yield* this.#whole(file);
    this.#at = 0;
    return next.files.at(-1) ?? present;
  }

  /** What has other lines than those of a log is none. */
  #expectLog(): void {
    const strange = this.#text.strange();
    if (strange === undefined) return;
    throw new NodeFailure('FailedRead', `unsupported log format: ${JSON.stringify(strange.toString('utf8'))}`);
  }

  #isOver = (): boolean => this.#text.isFull() || this.#options.signal.aborted;
}

/** Whether two open files are one, of which one may be the compressed version. */
async function isSame(one: LogFile, other: LogFile): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map(({ handle }) => headOf(handle, HEAD)));
  const common = Math.min(first?.length ?? 0, second?.length ?? 0);
  if (common > 0) return first?.subarray(0, common).equals(second?.subarray(0, common) ?? Buffer.alloc(0)) ?? false;
  const [{ ino: oneInode }, { ino: otherInode }] = await Promise.all([one.handle.stat(), other.handle.stat()]);
  return oneInode === otherInode;
}
