/** Makes of the lines of a log what is asked for: as a kubelet does, parts of a line together, times, and no more than so much. */
import type { LinePart } from './lineSplitter.ts';
import { logLine, moment, shownTime } from './logLine.ts';

export interface TextOptions {
  /** Only what was written since this moment, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Each line begins with its time. */
  readonly timestamps?: boolean | undefined;
  /** So many bytes at most, times included; a line is cut anywhere. */
  readonly limitBytes?: number | undefined;
}

const BREAK = Buffer.from('\n');
const NEWLINE = 10;

export class LogText {
  readonly #options: TextOptions;
  #left: number;
  #out: Buffer[] = [];
  /** How many whole lines are still to be left out. */
  #skip = 0;
  /** Of the line that is read: whether it is told, goes on with the next, and ends in a line break. */
  #isTold = false;
  #isPartial = false;
  #hasEnded = true;
  /** Whether the next thing told begins a line. */
  #isBeginning = true;
  #hasLine = false;
  #strange: Buffer | undefined;

  constructor(options: TextOptions) {
    this.#options = options;
    this.#left = options.limitBytes ?? Infinity;
  }

  /** Leaves out so many whole lines from here on. */
  skip(lines: number): void {
    this.#skip = lines;
  }

  /** Takes a line, or a part of one that is too long to be held. */
  take({ bytes, isStart }: LinePart): void {
    this.#hasEnded = bytes.at(-1) === NEWLINE;
    if (isStart) this.#begin(bytes);
    else this.#put(this.#isPartial && this.#hasEnded ? bytes.subarray(0, -1) : bytes);
  }

  /** A file is at its end: a line that was cut off there does not go on in the next file. */
  endFile(): void {
    if (!this.#hasEnded) this.#put(BREAK);
    this.#hasEnded = true;
  }

  /** What there is to tell since it was last asked. */
  taken(): Buffer | undefined {
    const [first, ...others] = this.#out;
    this.#out = [];
    return others.length === 0 || first === undefined ? first : Buffer.concat([first, ...others]);
  }

  /** Whether nothing more will be told, as it may not be more. */
  isFull(): boolean {
    return this.#left <= 0;
  }

  /** The first line that is none of a log's format, as long as there was none that is. */
  strange(): Buffer | undefined {
    return this.#hasLine ? undefined : this.#strange;
  }

  #begin(bytes: Buffer): void {
    const line = logLine(bytes);
    const { since, timestamps = false } = this.#options;
    const isAsked = line !== undefined && (since === undefined || moment(line.time) >= since);
    this.#isTold = this.#skip === 0 && isAsked;
    if (line === undefined) {
      this.#strange ??= bytes.subarray(0, 80);
      return;
    }
    this.#hasLine = true;
    this.#isPartial = line.isPartial;
    if (this.#skip > 0 && !line.isPartial) this.#skip -= 1;
    if (timestamps && this.#isBeginning) this.#put(Buffer.from(`${shownTime(line.time)} `));
    this.#put(line.text);
    if (this.#isTold) this.#isBeginning = !line.isPartial;
  }

  #put(bytes: Buffer): void {
    if (!this.#isTold || bytes.length === 0) return;
    const fitting = bytes.length > this.#left ? bytes.subarray(0, this.#left) : bytes;
    this.#left -= fitting.length;
    if (fitting.length > 0) this.#out.push(fitting);
  }
}
