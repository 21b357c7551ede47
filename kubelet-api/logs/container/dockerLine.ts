/** Parses a line of a log in Docker's JSON format (`staging/src/k8s.io/cri-client/pkg/logs/logs.go`). */
import { parseInstant } from '../instant.ts';

export interface DockerLine {
  readonly text: Buffer;
  readonly stream: string;
  /** Timestamp to compare. Empty if the line has none, because an empty string sorts before all timestamps. */
  readonly utcTime: string;
  /** Timestamp to display. */
  readonly time: string;
}

/** Go's zero time, for a line without a time. */
const ZERO_TIME = '0001-01-01T00:00:00.000000000Z';

/** Parses a line. Returns undefined if the line is not in Docker's format. */
export function dockerLine(line: Buffer): DockerLine | undefined {
  const { log = '', stream = '', time } = parseLineFields(line) ?? { log: 0 };
  if (typeof log !== 'string' || typeof stream !== 'string') return undefined;
  if (time === undefined || time === null) return { text: Buffer.from(log), stream, utcTime: '', time: ZERO_TIME };
  const utcTime = typeof time === 'string' ? parseInstant(time) : undefined;
  if (utcTime === undefined || typeof time !== 'string') return undefined;
  return { text: Buffer.from(log), stream, utcTime, time: formatTime(time, utcTime) };
}

/** Formats a time with nine fractional digits, in its original time zone. */
function formatTime(time: string, instant: string): string {
  const timeZone = /[+-]\d\d:\d\d$/.exec(time)?.[0] ?? 'Z';
  if (/^[Z+-](00:00)?$/.test(timeZone)) return `${instant}Z`;
  return time.slice(0, 19) + instant.slice(19) + timeZone;
}

function parseLineFields(line: Buffer): Partial<Record<'log' | 'stream' | 'time', unknown>> | undefined {
  try {
    const parsedJson: unknown = JSON.parse(line.toString('utf8'));
    if (parsedJson === null) return {};
    if (typeof parsedJson !== 'object' || Array.isArray(parsedJson)) return undefined;
    // Drop null values, so that their fields have their defaults.
    return Object.fromEntries(Object.entries(parsedJson).filter(([, value]) => value !== null));
  } catch {
    return undefined;
  }
}
