import type { DestinationStream } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { printableText } from '../../base/text/printable.ts';
import { lookUp } from '../../base/values/lookUp.ts';

/** Parses a line and escapes the control characters in its strings. Returns the escaped line if it is not JSON. */
function parsePrintable(line: string): unknown {
  const escapeValue = (_: string, value: unknown) => (typeof value === 'string' ? printableText(value) : value);
  try {
    return JSON.parse(line, escapeValue);
  } catch {
    return printableText(line);
  }
}

/** Joins the lines of a message, and labels messages of a simulated node. */
const toSingleLine = ({ simulated }: Record<string, unknown>, message: unknown): string =>
  `${simulated === true ? '[simulated] ' : ''}${String(message)
    .replace(/\s*\n\s*/g, ' ')
    .trim()}`;

/** Formats pino's lines with only the time of day, the level and the message. */
export function prettyLog(destination: DestinationStream): DestinationStream {
  const prettify = prettyFactory({
    colorize: false,
    hideObject: true,
    ignore: 'pid,hostname',
    messageFormat: (log, messageKey) => toSingleLine(log, lookUp(log, messageKey)),
    translateTime: 'SYS:HH:MM:ss',
  });
  return { write: (line) => destination.write(prettify(parsePrintable(line))) };
}
