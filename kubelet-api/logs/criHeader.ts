/** Where the text of a line in the CRI's format begins, found without making anything of the line. */
import { logLine, shownTime } from '../../host/logs/logLine.ts';
import { instant } from './instant.ts';

/** `2026-05-04T12:00:00.123456789Z `: what runtimes write, and what a kubelet prints. */
const TIME = 30;
const SECONDS = 19;
/** `stdout F `. */
const KIND = 9;
const [BLANK, DOT, ZED, NINE, ZERO] = [0x20, 0x2e, 0x5a, 0x39, 0x30];
const [FULL, PARTIAL] = [0x46, 0x50];
const [STDOUT, STDERR] = [Buffer.from('stdout '), Buffer.from('stderr ')];
/** The other streams and tags are for the slow way; this one is taken for nearly every line. */
const HEADER = TIME + 1 + KIND;

const NOTHING: Buffer = Buffer.alloc(0);

/** The header of one line after another; what it says is of the last that was read. */
export class CriHeader {
  isStdout = true;
  isPartial = false;
  /** Where the text begins. */
  textAt = 0;
  /** The time as it is shown and as it is compared, where it is not what is written in the line. */
  #shown: string | undefined;
  #instant: string | undefined;
  #bytes = NOTHING;
  #at = 0;
  /** The last second that was found to be one: most lines are of the same. */
  readonly #second = Buffer.alloc(SECONDS);

  /** Reads a line that begins at `from`, and goes to `end`; false where it is none of the format. */
  read(bytes: Buffer, from: number, end: number): boolean {
    this.#bytes = bytes;
    this.#at = from;
    if (end - from >= HEADER && this.#isUsual(bytes, from)) return true;
    return this.#readSlowly(bytes.subarray(from, end), from);
  }

  /** Whether the line was written before a moment. */
  isBefore(since: string): boolean {
    if (this.#instant !== undefined) return this.#instant < since;
    for (let at = 0; at < since.length; at += 1) {
      const difference = (this.#bytes[this.#at + at] ?? 0) - since.charCodeAt(at);
      if (difference !== 0) return difference < 0;
    }
    return false;
  }

  /** Its time as it is shown, with the blank after it. */
  time(): Buffer {
    return this.#shown === undefined
      ? this.#bytes.subarray(this.#at, this.#at + TIME + 1)
      : Buffer.from(`${this.#shown} `);
  }

  /** Holds the bytes of the last line no longer. */
  release(): void {
    this.#bytes = NOTHING;
  }

  #isUsual(bytes: Buffer, from: number): boolean {
    const kind = from + TIME + 1;
    if (bytes[from + SECONDS] !== DOT || bytes[kind - 2] !== ZED || bytes[kind - 1] !== BLANK) return false;
    if (bytes[kind + KIND - 1] !== BLANK || !areDigits(bytes, from + SECONDS + 1, kind - 2)) return false;
    const tag = bytes[kind + KIND - 2];
    this.isStdout = isAt(bytes, kind, STDOUT);
    if ((tag !== FULL && tag !== PARTIAL) || !(this.isStdout || isAt(bytes, kind, STDERR))) return false;
    if (!isAt(bytes, from, this.#second) && !this.#isSecond(bytes, from)) return false;
    this.isPartial = tag === PARTIAL;
    this.textAt = kind + KIND;
    this.#instant = undefined;
    this.#shown = undefined;
    return true;
  }

  #isSecond(bytes: Buffer, from: number): boolean {
    const whole = bytes.toString('latin1', from, from + SECONDS);
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(whole) || instant(whole, '', 'Z') === undefined) return false;
    bytes.copy(this.#second, 0, from, from + SECONDS);
    return true;
  }

  #readSlowly(line: Buffer, from: number): boolean {
    const found = logLine(line);
    if (found === undefined) return false;
    const { whole, fraction, zone } = found.time;
    this.#instant = instant(whole, fraction, zone);
    if (this.#instant === undefined) return false;
    this.#shown = shownTime(found.time);
    this.isStdout = found.stream === 'stdout';
    this.isPartial = found.isPartial;
    this.textAt = from + found.text.byteOffset - line.byteOffset;
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

function isAt(bytes: Buffer, from: number, what: Buffer): boolean {
  for (let at = 0; at < what.length; at += 1) if (bytes[from + at] !== what[at]) return false;
  return true;
}
