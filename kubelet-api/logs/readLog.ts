/** Reads one file of a container's log, and on as it is written, as a kubelet does (cri-client, logs.go). */
import { dirname } from 'node:path';
import { isMissing } from '../../host/files/fileErrors.ts';
import { LogChanges, type Pause } from '../../host/logs/logChanges.ts';
import { isReplaced, type LogFile, openLog } from './logFile.ts';
import { LogScan, type ScanOptions } from './logScan.ts';
import { tailStart } from './logTail.ts';
import { Rooms } from './rooms.ts';

export interface LogSource {
  /** Where the runtime says that it writes the log. */
  readonly path: string;
  /** The directories that logs may lie in, whatever links there are. */
  readonly roots: readonly string[];
}

export interface ReadOptions extends Omit<ScanOptions, 'lines'> {
  readonly tailLines?: number | undefined;
  /** Goes on until the container does not run. */
  readonly follow?: Following | undefined;
  readonly pause: Pause;
  readonly signal: AbortSignal;
}

interface Following {
  /** Asked whenever all has been read, each second at most; that it rejects ends the reading. */
  readonly isRunning: () => Promise<boolean>;
}

/** The text of one block is all that is held of a log for long; over TLS it is held a second time, encrypted. */
const BLOCK = 16 * 1_024;
/** Each read takes a turn in the pool of threads: of a file that has more, so much is read at once. */
const AHEAD = 256 * 1_024;
/** What was read ahead is held no longer, in milliseconds: whoever takes longer to read it waits for another read. */
const HOLD_MS = 100;

const NOTHING: Buffer = Buffer.alloc(0);
const BLOCKS = new Rooms(BLOCK, 8);
/** Beyond these readers, each takes block after block. */
const AHEADS = new Rooms(AHEAD, 4);

/**
 * The text of a log in parts, each to be used before the next one is asked for; throws with a kubelet's words. Files that
 * were set aside are not read: `statelet logs` has them.
 */
export async function* readLog(source: LogSource, options: ReadOptions): AsyncGenerator<Buffer> {
  const reading = new Reading(source, await openLog(source.path, source.roots), options);
  try {
    yield* reading.text();
  } finally {
    await reading.close();
  }
}

class Reading {
  readonly #source: LogSource;
  readonly #options: ReadOptions;
  readonly #scan: LogScan;
  #file: LogFile;
  #at = 0;
  /** What is known of the file from there on. */
  #ahead = NOTHING;
  /** Where it is, if it is more than a block. */
  #room: Buffer | undefined;
  #hasMore = false;
  #isReading = false;
  #isOverdue = false;
  /** Whether the last block was empty. */
  #wasEnd = false;

  constructor(source: LogSource, file: LogFile, options: ReadOptions) {
    this.#source = source;
    this.#file = file;
    this.#options = options;
    this.#scan = new LogScan({ ...options, lines: options.follow ? undefined : options.tailLines });
  }

  close(): Promise<void> {
    this.#giveAhead();
    return this.#file.handle.close();
  }

  async *text(): AsyncGenerator<Buffer> {
    const { tailLines, follow, signal } = this.#options;
    if (tailLines !== undefined) this.#at = await tailStart(this.#file.handle, tailLines, signal);
    if (follow !== undefined) return yield* this.#follow(follow);
    // What is written meanwhile is not asked for: whoever writes fast would not let it end.
    yield* this.#toEnd((await this.#file.handle.stat()).size);
    const rest = this.#isOver() ? undefined : this.#scan.takeRest();
    if (rest !== undefined) yield rest;
  }

  /** While its text is written the block itself is not held any more. */
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
    const room = (this.#hasMore ? this.#takeAhead() : undefined) ?? BLOCKS.take();
    try {
      await this.#read(room, to - this.#at);
      return this.#take(to);
    } finally {
      if (room !== this.#room) {
        this.#ahead = NOTHING;
        BLOCKS.give(room);
      } else if (this.#isOverdue) this.#giveAhead();
    }
  }

  #take(to: number): Buffer | undefined {
    const block = this.#ahead.subarray(0, Math.min(BLOCK, to - this.#at));
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

  /** Undefined: others read ahead. */
  #takeAhead(): Buffer | undefined {
    if (this.#room !== undefined) return this.#room;
    this.#room = AHEADS.takeKept();
    if (this.#room !== undefined) void this.#hold();
    return this.#room;
  }

  async #hold(): Promise<void> {
    const { pause, signal } = this.#options;
    await pause(HOLD_MS, signal);
    // What is being read to is nobody else's yet.
    if (this.#isReading) this.#isOverdue = true;
    else this.#giveAhead();
  }

  #giveAhead(): void {
    if (this.#room === undefined) return;
    AHEADS.give(this.#room);
    this.#room = undefined;
    this.#isOverdue = false;
    this.#ahead = NOTHING;
  }

  async *#follow({ isRunning }: Following): AsyncGenerator<Buffer> {
    const changes = new LogChanges(dirname(this.#file.path), this.#options.pause, this.#options.signal);
    let [hasEnded, trouble] = [false, undefined as { readonly cause: unknown } | undefined];
    const look = async () => {
      hasEnded = !(await isRunning().catch((cause: unknown) => {
        trouble = { cause };
      }));
      if (hasEnded) changes.wake();
    };
    try {
      while (!this.#isOver()) {
        // What was written before the end is there by now.
        const isLast = hasEnded;
        yield* this.#toEnd();
        if (!this.#isOver() && (await isReplaced(this.#file))) {
          // What was written before it was renamed.
          yield* this.#toEnd();
          if (await this.#openAnew()) continue;
        }
        if (trouble !== undefined) throw trouble.cause;
        if (isLast) return;
        await changes.next(look);
      }
    } finally {
      changes.end();
    }
  }

  /** Goes over to the file that has been made in the place of the one that is read, unless it has gone again. */
  async #openAnew(): Promise<boolean> {
    const next = await openLog(this.#source.path, this.#source.roots).catch((error: unknown) => {
      if (!(error instanceof Error && isMissing(error.cause))) throw error;
    });
    if (next === undefined) return false;
    await this.#file.handle.close();
    this.#file = next;
    this.#at = 0;
    this.#ahead = NOTHING;
    this.#scan.restart();
    return true;
  }

  #isOver = (): boolean => this.#scan.isOver || this.#options.signal.aborted;
}
