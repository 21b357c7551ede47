import type { DestinationStream } from 'pino';
import { prettyFactory } from 'pino-pretty';

/** Makes lines for people of pino's, at once: what is logged last before the process ends is not lost. */
export function pretty(destination: DestinationStream, colorize: boolean): DestinationStream {
  const prettify = prettyFactory({ colorize, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l' });
  return { write: (line) => destination.write(prettify(line)) };
}
