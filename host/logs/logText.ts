/**
 * Formats the lines of a log as the kubelet does. Joins partial lines, adds timestamps, filters by time and limits the
 * size.
 */
import type { LinePart } from './lineSplitter.ts';
import { formatTimestamp, parseLogLine, toMilliseconds } from './logLine.ts';

export interface LogTextOptions {
  /** Time before which lines are omitted, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Whether each line starts with its timestamp. */
  readonly timestamps?: boolean | undefined;
  /** Maximum number of bytes including timestamps. The last line may be truncated. */
  readonly limitBytes?: number | undefined;
}

const LINE_BREAK = Buffer.from('\n');
const NEWLINE = 10;

export class LogText {
  readonly #options: LogTextOptions;
  #remainingBytes: number;
  #outputChunks: Buffer[] = [];
  /** Number of complete lines still to be skipped. */
  #linesToSkip = 0;
  /** Whether the current line is included in the output. */
  #isLineIncluded = false;
  /** Whether the current line continues in the next one. */
  #isPartial = false;
  /** Whether the current line has ended with a line break. */
  #hasLineEnded = true;
  /** Whether the next output starts a line. */
  #isAtLineStart = true;
  #hasValidLine = false;
  #firstInvalidLine: Buffer | undefined;

  constructor(options: LogTextOptions) {
    this.#options = options;
    this.#remainingBytes = options.limitBytes ?? Infinity;
  }

  /** Skips the given number of complete lines. */
  skip(lines: number): void {
    this.#linesToSkip = lines;
  }

  /** Adds a line, or a part of a very long line. */
  add({ bytes, isLineStart }: LinePart): void {
    this.#hasLineEnded = bytes.at(-1) === NEWLINE;
    if (isLineStart) this.#addLineStart(bytes);
    else this.#writeBytes(this.#isPartial && this.#hasLineEnded ? bytes.subarray(0, -1) : bytes);
  }

  /** Marks the end of a file. A line that is incomplete at the end of a file does not continue in the next file. */
  endFile(): void {
    if (!this.#hasLineEnded) this.#writeBytes(LINE_BREAK);
    this.#hasLineEnded = true;
  }

  /** Returns the output since the last call, if any. */
  takeOutput(): Buffer | undefined {
    const [first, ...rest] = this.#outputChunks;
    this.#outputChunks = [];
    return rest.length === 0 || first === undefined ? first : Buffer.concat([first, ...rest]);
  }

  /** Whether the size limit has been reached. */
  isFull(): boolean {
    return this.#remainingBytes <= 0;
  }

  /** Returns the first line that is not in the log format, unless there is also a valid line before or after it. */
  invalidLine(): Buffer | undefined {
    return this.#hasValidLine ? undefined : this.#firstInvalidLine;
  }

  #addLineStart(bytes: Buffer): void {
    const line = parseLogLine(bytes);
    const { since, timestamps = false } = this.#options;
    const isIncluded = line !== undefined && (since === undefined || toMilliseconds(line.time) >= since);
    this.#isLineIncluded = this.#linesToSkip === 0 && isIncluded;
    if (line === undefined) {
      this.#firstInvalidLine ??= bytes.subarray(0, 80);
      return;
    }
    this.#hasValidLine = true;
    this.#isPartial = line.isPartial;
    if (this.#linesToSkip > 0 && !line.isPartial) this.#linesToSkip -= 1;
    if (timestamps && this.#isAtLineStart) this.#writeBytes(Buffer.from(`${formatTimestamp(line.time)} `));
    this.#writeBytes(line.messageText);
    if (this.#isLineIncluded) this.#isAtLineStart = !line.isPartial;
  }

  #writeBytes(bytes: Buffer): void {
    if (!this.#isLineIncluded || bytes.length === 0) return;
    const fittingBytes = bytes.length > this.#remainingBytes ? bytes.subarray(0, this.#remainingBytes) : bytes;
    this.#remainingBytes -= fittingBytes.length;
    if (fittingBytes.length > 0) this.#outputChunks.push(fittingBytes);
  }
}
