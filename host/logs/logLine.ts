/** Parses lines in the CRI's log format: `<time> <stdout|stderr> <tags> <text>`. */

const NEWLINE = 10;
/** Number of bytes at the start of a line in which to search for the header. A line with a longer header is invalid. */
const MAX_HEADER_BYTES = 256;
/** Header of a line. The first of the colon-separated tags indicates whether the line continues in the next one. */
const HEADER_PATTERN = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d) (stdout|stderr) ([^ ]+) /;
const PARTIAL_TAG = 'P';

/** Timestamp of a line, split into parts because a number would not be precise enough. */
interface LogTimestamp {
  readonly seconds: string;
  readonly fraction: string;
  readonly zone: string;
}

export interface LogLine {
  readonly time: LogTimestamp;
  readonly stream: 'stdout' | 'stderr';
  /** Whether the next line of the same stream continues this one. */
  readonly isPartial: boolean;
  /** Text of the line. A partial line has no line break. */
  readonly messageText: Buffer;
}

/** Parses a line, with or without its line break. Returns undefined if it is not in the CRI's format. */
export function parseLogLine(line: Buffer): LogLine | undefined {
  const [header, seconds = '', fraction = '', zone = '', stream = '', tags = ''] =
    HEADER_PATTERN.exec(line.toString('latin1', 0, MAX_HEADER_BYTES)) ?? [];
  if (header === undefined) return undefined;
  const isPartial = tags === PARTIAL_TAG || tags.startsWith(`${PARTIAL_TAG}:`);
  const text = line.subarray(header.length);
  const time = { seconds, fraction, zone };
  return {
    time,
    isPartial,
    stream: stream === 'stderr' ? stream : 'stdout',
    messageText: isPartial ? trimLineBreak(text) : text,
  };
}

/** Converts a timestamp to milliseconds since the epoch, as precisely as a number allows. */
export const toMilliseconds = ({ seconds, fraction, zone }: LogTimestamp): number =>
  Date.parse(seconds + zone) + Number(`0.${fraction || 0}`) * 1_000;

/** Formats a timestamp with nine fractional digits, as the kubelet does. */
export const formatTimestamp = ({ seconds, fraction, zone }: LogTimestamp): string =>
  `${seconds}.${fraction.padEnd(9, '0').slice(0, 9)}${zone === '+00:00' ? 'Z' : zone}`;

/** Whether a line is in the CRI's format and completes a line of output. */
export const completesLine = (line: Buffer): boolean => parseLogLine(line)?.isPartial === false;

const trimLineBreak = (text: Buffer): Buffer => (text.at(-1) === NEWLINE ? text.subarray(0, -1) : text);
