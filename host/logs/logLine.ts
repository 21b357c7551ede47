/** A line of a log in the CRI's format: `<time> <stdout|stderr> <tags> <text>`. */

const NEWLINE = 10;
/** Where the text begins at most. */
const LONGEST_START = 256;
/** Of the tags, which colons separate, the first says whether the line goes on in the next. */
const START = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d) (stdout|stderr) ([^ ]+) /;
const PARTIAL = 'P';

/** When a line was written. */
interface LogTime {
  readonly whole: string;
  readonly fraction: string;
  readonly zone: string;
}

export interface LogLine {
  readonly time: LogTime;
  readonly stream: 'stdout' | 'stderr';
  /** The line goes on with the next one of its stream. */
  readonly isPartial: boolean;
  /** Without the line break where the line goes on. */
  readonly text: Buffer;
}

/** Reads a line, with its line break where it has one; undefined where it is none of this format. */
export function logLine(line: Buffer): LogLine | undefined {
  const [start, whole = '', fraction = '', zone = '', stream = '', tags = ''] =
    START.exec(line.toString('latin1', 0, LONGEST_START)) ?? [];
  if (start === undefined) return undefined;
  const isPartial = tags === PARTIAL || tags.startsWith(`${PARTIAL}:`);
  const text = line.subarray(start.length);
  const time = { whole, fraction, zone };
  return {
    time,
    isPartial,
    stream: stream === 'stderr' ? stream : 'stdout',
    text: isPartial ? withoutBreak(text) : text,
  };
}

/** In milliseconds since the epoch, with as much of the rest as a number holds. */
export const moment = ({ whole, fraction, zone }: LogTime): number =>
  Date.parse(whole + zone) + Number(`0.${fraction || 0}`) * 1_000;

/** With nine digits, as a kubelet writes it. */
export const shownTime = ({ whole, fraction, zone }: LogTime): string =>
  `${whole}.${fraction.padEnd(9, '0').slice(0, 9)}${zone === '+00:00' ? 'Z' : zone}`;

/** Whether a line is one of the format, and ends what was written as one line. */
export const endsLine = (line: Buffer): boolean => logLine(line)?.isPartial === false;

/** What a line says, without its line break. */
const withoutBreak = (text: Buffer): Buffer => (text.at(-1) === NEWLINE ? text.subarray(0, -1) : text);
