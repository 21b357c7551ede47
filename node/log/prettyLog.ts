import type { DestinationStream } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { lookUp } from '../../base/lookUp.ts';
import { printable } from '../../base/printable.ts';

/** A line of the log in which no text has characters that a terminal may not have. */
function printableLog(line: string): unknown {
  const safe = (_: string, value: unknown) => (typeof value === 'string' ? printable(value) : value);
  try {
    return JSON.parse(line, safe);
  } catch {
    return printable(line);
  }
}

/** A message of one line, that of a simulated runtime labelled. What else a line carries is for programs. */
const oneLine = ({ simulated }: Record<string, unknown>, message: unknown): string =>
  `${simulated === true ? '[simulated] ' : ''}${String(message)
    .replace(/\s*\n\s*/g, ' ')
    .trim()}`;

/** Formats pino's lines for a place beside the live table: the time of day, the level and the message. */
export function pretty(destination: DestinationStream): DestinationStream {
  const prettify = prettyFactory({
    colorize: false,
    hideObject: true,
    ignore: 'pid,hostname',
    messageFormat: (log, messageKey) => oneLine(log, lookUp(log, messageKey)),
    translateTime: 'SYS:HH:MM:ss',
  });
  return { write: (line) => destination.write(prettify(printableLog(line))) };
}
