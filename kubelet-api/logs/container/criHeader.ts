/** Parses the header of a line in CRI format without allocating memory in the common case. */
import { formatTimestamp, parseLogLine } from '../../../host/logs/logLine.ts';
import { toUtcInstant } from '../instant.ts';

/** Length of a timestamp such as `2026-05-04T12:00:00.123456789Z`, which runtimes write and the kubelet prints. */
const TIME_LENGTH = 30;
const SECONDS_LENGTH = 19;
/** Length of the stream and tag, e.g. `stdout F `. */
const STREAM_AND_TAG_LENGTH = 9;
const [BLANK, DOT, ZED, NINE, ZERO] = [0x20, 0x2e, 0x5a, 0x39, 0x30];
const [FULL, PARTIAL] = [0x46, 0x50];
const [STDOUT, STDERR] = [Buffer.from('stdout '), Buffer.from('stderr ')];
/** Length of the most common header. Lines with other timestamps, streams or tags take the slow path. */
const HEADER_LENGTH = TIME_LENGTH + 1 + STREAM_AND_TAG_LENGTH;

const EMPTY_BUFFER: Buffer = Buffer.alloc(0);

/** The header of the last line that was read. The object is reused for all lines. */
export class CriHeader {
  isStdout = true;
  isPartial = false;
  /** Offset of the line's text after the header. */
  textOffset = 0;
  /** The timestamp to display. Undefined if it equals the timestamp in the line. */
  #displayTime: string | undefined;
  /** The timestamp to compare. Undefined if it equals the timestamp in the line. */
  #instant: string | undefined;
  #lineBytes = EMPTY_BUFFER;
  #at = 0;
  /**
   * The last valid timestamp without its fraction. Consecutive lines usually have the same second, which is then
   * validated only once.
   */
  readonly #lastSecond = Buffer.alloc(SECONDS_LENGTH);

  /** Reads the header of the line from offset `from` to `end`. Returns false if the line is not in CRI format. */
  read(bytes: Buffer, from: number, end: number): boolean {
    this.#lineBytes = bytes;
    this.#at = from;
    if (end - from >= HEADER_LENGTH && this.#readUsualHeader(bytes, from)) return true;
    return this.#readUnusualHeader(bytes.subarray(from, end), from);
  }

  /** Whether the line was written before the time `since`. */
  isBefore(since: string): boolean {
    if (this.#instant !== undefined) return this.#instant < since;
    for (let at = 0; at < since.length; at += 1) {
      const difference = (this.#lineBytes[this.#at + at] ?? 0) - since.charCodeAt(at);
      if (difference !== 0) return difference < 0;
    }
    return false;
  }

  /** Returns the timestamp to display and the space after it. */
  displayTimestamp(): Buffer {
    return this.#displayTime === undefined
      ? this.#lineBytes.subarray(this.#at, this.#at + TIME_LENGTH + 1)
      : Buffer.from(`${this.#displayTime} `);
  }

  /** Drops the references to the bytes of the last line. */
  release(): void {
    this.#lineBytes = EMPTY_BUFFER;
  }

  #readUsualHeader(bytes: Buffer, from: number): boolean {
    const kind = from + TIME_LENGTH + 1;
    if (bytes[from + SECONDS_LENGTH] !== DOT || bytes[kind - 2] !== ZED || bytes[kind - 1] !== BLANK) return false;
    if (bytes[kind + STREAM_AND_TAG_LENGTH - 1] !== BLANK || !areDigits(bytes, from + SECONDS_LENGTH + 1, kind - 2))
      return false;
    const tag = bytes[kind + STREAM_AND_TAG_LENGTH - 2];
    this.isStdout = matchesAt(bytes, kind, STDOUT);
    if ((tag !== FULL && tag !== PARTIAL) || !(this.isStdout || matchesAt(bytes, kind, STDERR))) return false;
    if (!matchesAt(bytes, from, this.#lastSecond) && !this.#isValidSecond(bytes, from)) return false;
    this.isPartial = tag === PARTIAL;
    this.textOffset = kind + STREAM_AND_TAG_LENGTH;
    this.#instant = undefined;
    this.#displayTime = undefined;
    return true;
  }

  #isValidSecond(bytes: Buffer, from: number): boolean {
    const wholeSeconds = bytes.toString('latin1', from, from + SECONDS_LENGTH);
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(wholeSeconds) || toUtcInstant(wholeSeconds, '', 'Z') === undefined)
      return false;
    bytes.copy(this.#lastSecond, 0, from, from + SECONDS_LENGTH);
    return true;
  }

  #readUnusualHeader(line: Buffer, from: number): boolean {
    const parsedLine = parseLogLine(line);
    if (parsedLine === undefined) return false;
    const { seconds, fraction, zone } = parsedLine.time;
    this.#instant = toUtcInstant(seconds, fraction, zone);
    if (this.#instant === undefined) return false;
    this.#displayTime = formatTimestamp(parsedLine.time);
    this.isStdout = parsedLine.stream === 'stdout';
    this.isPartial = parsedLine.isPartial;
    this.textOffset = from + parsedLine.messageText.byteOffset - line.byteOffset;
    return true;
  }
}

function areDigits(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < ZERO || byte > NINE) return false;
  }
  return true;
}

function matchesAt(bytes: Buffer, from: number, expected: Buffer): boolean {
  for (let at = 0; at < expected.length; at += 1) if (bytes[from + at] !== expected[at]) return false;
  return true;
}
