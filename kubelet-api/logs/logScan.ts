/** Makes of the bytes of a log's file what a kubelet tells of them (cri-client, logs.go). */
import { quoted } from '../../base/quoted.ts';
import { CriHeader } from './criHeader.ts';
import { dockerLine } from './dockerLine.ts';
import type { LogStream } from './logQuery.ts';
import { TextOut } from './textOut.ts';

export interface ScanOptions {
  readonly timestamps?: boolean | undefined;
  readonly since?: string | undefined;
  readonly limitBytes?: number | undefined;
  readonly stream?: LogStream | undefined;
  /** Ends after so many lines, those included that are left out for their time. */
  readonly lines?: number | undefined;
}

const NEWLINE = 10;
/** Runtimes cut lines at 16 KiB; of one that is longer the text goes through in parts. */
const LONGEST_CRI = 20 * 1_024;
/** A line of JSON is read as a whole: one that is longer counts as bad. */
const LONGEST = 256 * 1_024;
/** So much of a line that is none of a log is told. */
const SHOWN = 256;
const NOTHING: Buffer = Buffer.alloc(0);

export class LogScan {
  readonly #options: ScanOptions;
  readonly #out: TextOut;
  readonly #header = new CriHeader();
  #format: 'cri' | 'docker' | undefined;
  #rest = NOTHING;
  /** Of a line that is longer than is held: whether the rest of it is told, and its newline. */
  #within: { readonly counts: boolean; readonly isTold: boolean; readonly isPartial: boolean } | undefined;
  #isNewLine = true;
  #linesLeft: number;

  constructor(options: ScanOptions) {
    this.#options = options;
    this.#out = new TextOut(options.limitBytes);
    this.#linesLeft = options.lines ?? Infinity;
  }

  /** Nothing more will be told. */
  get isOver(): boolean {
    return this.#out.isFull || this.#linesLeft <= 0;
  }

  /** What is to be told of a further block; it is overwritten by the next one. Throws where the log is of no known format. */
  take(block: Buffer): Buffer | undefined {
    const bytes = this.#rest.length === 0 ? block : joined(this.#rest, block);
    this.#out.begin(bytes.length);
    let from = this.#goOn(bytes);
    for (let end = bytes.indexOf(NEWLINE, from); end >= 0 && !this.isOver; end = bytes.indexOf(NEWLINE, from)) {
      this.#line(bytes, from, end + 1);
      from = end + 1;
    }
    if (bytes.length - from > LONGEST_CRI && !this.isOver) from = this.#beginLong(bytes, from);
    this.#header.release();
    this.#rest = from < bytes.length ? aloneCopy(bytes.subarray(from)) : NOTHING;
    return this.#out.taken();
  }

  /** What is to be told of a last line that has no end. */
  takeRest(): Buffer | undefined {
    const rest = this.#rest;
    this.#rest = NOTHING;
    this.#out.begin(rest.length);
    if (rest.length > 0 && !this.isOver) this.#line(rest, 0, rest.length);
    this.#header.release();
    return this.#out.taken();
  }

  /** Another file begins: what the one before has left unfinished is no line of it. */
  restart(): void {
    this.#rest = NOTHING;
    this.#within = undefined;
  }

  /** The rest of a long line; gives where the next one begins. */
  #goOn(bytes: Buffer): number {
    if (this.#within === undefined) return 0;
    const { counts, isTold, isPartial } = this.#within;
    const newline = bytes.indexOf(NEWLINE);
    const end = newline < 0 ? bytes.length : newline + 1;
    if (isTold) this.#out.put(bytes, 0, newline >= 0 && isPartial ? newline : end);
    if (newline >= 0) this.#within = undefined;
    if (newline >= 0 && counts) this.#counted(!isPartial);
    return end;
  }

  #beginLong(bytes: Buffer, from: number): number {
    const isCri = this.#format !== 'docker' && this.#header.read(bytes, from, bytes.length);
    if (!isCri && this.#format !== 'cri' && bytes.length - from <= LONGEST) return from;
    this.#format ??= isCri ? 'cri' : formatOf(bytes.subarray(from), this.#header);
    const isTold = isCri && this.#criText(bytes, bytes.length);
    this.#within = { counts: isCri, isTold, isPartial: this.#header.isPartial };
    return bytes.length;
  }

  #line(bytes: Buffer, from: number, end: number): void {
    this.#format ??= formatOf(bytes.subarray(from, end), this.#header);
    if (this.#format === 'docker') this.#dockerLine(bytes.subarray(from, end));
    else if (this.#header.read(bytes, from, end))
      this.#criLine(bytes, this.#header.isPartial && bytes[end - 1] === NEWLINE ? end - 1 : end);
  }

  #criLine(bytes: Buffer, end: number): void {
    this.#criText(bytes, end);
    this.#counted(end === this.#header.textAt || bytes[end - 1] === NEWLINE);
  }

  /** Whether the line is one that is told. */
  #criText(bytes: Buffer, end: number): boolean {
    const { textAt, isStdout } = this.#header;
    if (!this.#isTold(isStdout ? 'stdout' : 'stderr')) return false;
    if (this.#options.timestamps && this.#isNewLine) this.#out.put(this.#header.time());
    this.#out.put(bytes, textAt, end);
    return true;
  }

  #isTold(stream: 'stdout' | 'stderr'): boolean {
    const { since, stream: wanted = 'All' } = this.#options;
    if (wanted !== 'All' && wanted.toLowerCase() !== stream) return false;
    return since === undefined || !this.#header.isBefore(since);
  }

  #dockerLine(bytes: Buffer): void {
    const line = dockerLine(bytes);
    if (line === undefined) return;
    const { since, timestamps, stream: wanted = 'All' } = this.#options;
    if (since === undefined || line.instant >= since) {
      if (line.stream !== 'stdout' && line.stream !== 'stderr')
        throw new Error(`unexpected stream type ${quoted(line.stream)}`);
      if (wanted === 'All' || wanted.toLowerCase() === line.stream) {
        if (timestamps && this.#isNewLine) this.#out.put(Buffer.from(`${line.time} `));
        this.#out.put(line.text);
      }
    }
    this.#counted(line.text.length === 0 || line.text.at(-1) === NEWLINE);
  }

  #counted(endsLine: boolean): void {
    this.#linesLeft -= 1;
    this.#isNewLine = endsLine;
  }
}

/** The first line says how all are read. */
function formatOf(line: Buffer, header: CriHeader): 'cri' | 'docker' {
  if (header.read(line, 0, line.length)) return 'cri';
  if (dockerLine(line) !== undefined) return 'docker';
  const shown = quoted(line.toString('utf8', 0, SHOWN));
  throw new Error(`failed to get parse function: unsupported log format: ${shown}`);
}

/** A copy that stands alone: a small buffer is otherwise a part of a pool, and holds all of it. */
function aloneCopy(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

/** A block with the longest rest of a line in the CRI's format before it. */
const JOINT = 36 * 1_024;
/** Where blocks are joined with what was left of the one before: nobody holds anything of it afterwards. */
const joint = Buffer.allocUnsafeSlow(JOINT);

/** To be used before the next are joined. */
function joined(rest: Buffer, block: Buffer): Buffer {
  const length = rest.length + block.length;
  const whole = length > JOINT ? Buffer.allocUnsafeSlow(length) : joint.subarray(0, length);
  rest.copy(whole);
  block.copy(whole, rest.length);
  return whole;
}
