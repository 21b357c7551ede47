/** Converts the bytes of a log file to the kubelet's output (`staging/src/k8s.io/cri-client/pkg/logs/logs.go`). */
import { quotedText } from '../../../base/text/quotedText.ts';
import { CriHeader } from './criHeader.ts';
import { dockerLine } from './dockerLine.ts';
import type { LogStream } from './logQuery.ts';
import { TextOutput } from './textOutput.ts';

export interface ScanOptions {
  readonly timestamps?: boolean | undefined;
  readonly since?: string | undefined;
  readonly limitBytes?: number | undefined;
  readonly stream?: LogStream | undefined;
  /** Maximum number of lines to read, including those that `since` omits. */
  readonly lines?: number | undefined;
}

const NEWLINE = 10;
/**
 * Maximum buffered length of a line in CRI format. Runtimes split lines at 16 KiB. A longer line is output piece by
 * piece.
 */
const MAX_CRI_LINE_BYTES = 20 * 1_024;
/** Maximum length of a JSON line, which must be buffered completely. A longer line is treated as invalid. */
const MAX_LINE_BYTES = 256 * 1_024;
/** Number of bytes of an invalid line to include in the error. */
const ERROR_EXCERPT_BYTES = 256;
const EMPTY_BUFFER: Buffer = Buffer.alloc(0);

export class LogScan {
  readonly #options: ScanOptions;
  readonly #output: TextOutput;
  readonly #header = new CriHeader();
  #format: 'cri' | 'docker' | undefined;
  #incompleteLine = EMPTY_BUFFER;
  /**
   * State of a line that does not fit into the buffer. It determines whether the rest of the line and its newline are
   * output.
   */
  #longLine: { readonly countsAsLine: boolean; readonly isSelected: boolean; readonly isPartial: boolean } | undefined;
  #isNewLine = true;
  #linesLeft: number;

  constructor(options: ScanOptions) {
    this.#options = options;
    this.#output = new TextOutput(options.limitBytes);
    this.#linesLeft = options.lines ?? Infinity;
  }

  /** Whether the line or byte limit has been reached. */
  get isOver(): boolean {
    return this.#output.isFull || this.#linesLeft <= 0;
  }

  /**
   * Returns the output for the next block, in a buffer that the next call overwrites. Throws if the log format is
   * unknown.
   */
  convertBlock(block: Buffer): Buffer | undefined {
    const bytes = this.#incompleteLine.length === 0 ? block : joinBytes(this.#incompleteLine, block);
    this.#output.start(bytes.length);
    let from = this.#continueLongLine(bytes);
    for (let end = bytes.indexOf(NEWLINE, from); end >= 0 && !this.isOver; end = bytes.indexOf(NEWLINE, from)) {
      this.#writeLine(bytes, from, end + 1);
      from = end + 1;
    }
    if (bytes.length - from > MAX_CRI_LINE_BYTES && !this.isOver) from = this.#startLongLine(bytes, from);
    this.#header.release();
    this.#incompleteLine = from < bytes.length ? copyBytes(bytes.subarray(from)) : EMPTY_BUFFER;
    return this.#output.output();
  }

  /** Returns the output for a last line without a newline. */
  convertIncompleteLine(): Buffer | undefined {
    const incompleteLine = this.#incompleteLine;
    this.#incompleteLine = EMPTY_BUFFER;
    this.#output.start(incompleteLine.length);
    if (incompleteLine.length > 0 && !this.isOver) this.#writeLine(incompleteLine, 0, incompleteLine.length);
    this.#header.release();
    return this.#output.output();
  }

  /** Discards an unfinished line before reading a new file. */
  restart(): void {
    this.#incompleteLine = EMPTY_BUFFER;
    this.#longLine = undefined;
  }

  /** Processes the rest of a long line. Returns the offset of the next line. */
  #continueLongLine(bytes: Buffer): number {
    if (this.#longLine === undefined) return 0;
    const { countsAsLine, isSelected: shouldWrite, isPartial } = this.#longLine;
    const newlineIndex = bytes.indexOf(NEWLINE);
    const end = newlineIndex < 0 ? bytes.length : newlineIndex + 1;
    if (shouldWrite) this.#output.append(bytes, 0, newlineIndex >= 0 && isPartial ? newlineIndex : end);
    if (newlineIndex >= 0) this.#longLine = undefined;
    if (newlineIndex >= 0 && countsAsLine) this.#countLine(!isPartial);
    return end;
  }

  #startLongLine(bytes: Buffer, from: number): number {
    const isCri = this.#format !== 'docker' && this.#header.read(bytes, from, bytes.length);
    if (!isCri && this.#format !== 'cri' && bytes.length - from <= MAX_LINE_BYTES) return from;
    this.#format ??= isCri ? 'cri' : detectFormat(bytes.subarray(from), this.#header);
    const isSelected = isCri && this.#writeCriText(bytes, bytes.length);
    this.#longLine = { countsAsLine: isCri, isSelected, isPartial: this.#header.isPartial };
    return bytes.length;
  }

  #writeLine(bytes: Buffer, from: number, end: number): void {
    this.#format ??= detectFormat(bytes.subarray(from, end), this.#header);
    if (this.#format === 'docker') this.#writeDockerLine(bytes.subarray(from, end));
    else if (this.#header.read(bytes, from, end))
      this.#writeCriLine(bytes, this.#header.isPartial && bytes[end - 1] === NEWLINE ? end - 1 : end);
  }

  #writeCriLine(bytes: Buffer, end: number): void {
    this.#writeCriText(bytes, end);
    this.#countLine(end === this.#header.textOffset || bytes[end - 1] === NEWLINE);
  }

  /** Writes the text of a line unless it is filtered out. Returns whether the line was written. */
  #writeCriText(bytes: Buffer, end: number): boolean {
    const { textOffset, isStdout } = this.#header;
    if (!this.#isSelected(isStdout ? 'stdout' : 'stderr')) return false;
    if (this.#options.timestamps && this.#isNewLine) this.#output.append(this.#header.displayTimestamp());
    this.#output.append(bytes, textOffset, end);
    return true;
  }

  #isSelected(stream: 'stdout' | 'stderr'): boolean {
    const { since, stream: requestedStream = 'All' } = this.#options;
    if (requestedStream !== 'All' && requestedStream.toLowerCase() !== stream) return false;
    return since === undefined || !this.#header.isBefore(since);
  }

  #writeDockerLine(bytes: Buffer): void {
    const line = dockerLine(bytes);
    if (line === undefined) return;
    const { since, timestamps, stream: requestedStream = 'All' } = this.#options;
    if (since === undefined || line.utcTime >= since) {
      if (line.stream !== 'stdout' && line.stream !== 'stderr')
        throw new Error(`unexpected stream type ${quotedText(line.stream)}`);
      if (requestedStream === 'All' || requestedStream.toLowerCase() === line.stream) {
        if (timestamps && this.#isNewLine) this.#output.append(Buffer.from(`${line.time} `));
        this.#output.append(line.text);
      }
    }
    this.#countLine(line.text.length === 0 || line.text.at(-1) === NEWLINE);
  }

  #countLine(endsLine: boolean): void {
    this.#linesLeft -= 1;
    this.#isNewLine = endsLine;
  }
}

/** Determines the format from the first line. */
function detectFormat(line: Buffer, header: CriHeader): 'cri' | 'docker' {
  if (header.read(line, 0, line.length)) return 'cri';
  if (dockerLine(line) !== undefined) return 'docker';
  const lineExcerpt = quotedText(line.toString('utf8', 0, ERROR_EXCERPT_BYTES));
  throw new Error(`failed to get parse function: unsupported log format: ${lineExcerpt}`);
}

/** Copies bytes to a separate allocation, because a small pooled buffer would keep its whole pool in memory. */
function copyBytes(bytes: Buffer): Buffer {
  const copiedBytes = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copiedBytes);
  return copiedBytes;
}

/** Size of a block plus the longest incomplete CRI line that can precede it. */
const JOIN_BUFFER_BYTES = 36 * 1_024;
/**
 * Shared buffer for joining a block with the incomplete line before it. No reference to it remains after `convertBlock`
 * has returned.
 */
const joinBuffer = Buffer.allocUnsafeSlow(JOIN_BUFFER_BYTES);

/** Joins the bytes. The next call may overwrite the result. */
function joinBytes(incompleteLine: Buffer, block: Buffer): Buffer {
  const joinedLength = incompleteLine.length + block.length;
  const joinedBytes =
    joinedLength > JOIN_BUFFER_BYTES ? Buffer.allocUnsafeSlow(joinedLength) : joinBuffer.subarray(0, joinedLength);
  incompleteLine.copy(joinedBytes);
  block.copy(joinedBytes, incompleteLine.length);
  return joinedBytes;
}
