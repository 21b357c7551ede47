import type { DestinationStream } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { printable } from '../pod/printable.ts';

/** A line of the log in which no text has characters that a terminal may not have. */
function printableLog(line: string): unknown {
  const safe = (_: string, value: unknown) => (typeof value === 'string' ? printable(value) : value);
  try {
    return JSON.parse(line, safe);
  } catch {
    return printable(line);
  }
}

/** Makes lines for people of pino's, at once: what is logged last before the process ends is not lost. */
export function pretty(destination: DestinationStream, colorize: boolean): DestinationStream {
  const prettify = prettyFactory({ colorize, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l' });
  return { write: (line) => destination.write(prettify(printableLog(line))) };
}
