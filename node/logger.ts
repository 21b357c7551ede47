import pino, { type DestinationStream, type Logger, type LoggerOptions, stdSerializers } from 'pino';
import { createRedaction, type Redaction } from '../actors/redaction.ts';
import { printableQuoted } from '../pod/show/printable.ts';
import type { NodeConfig } from './config/nodeConfig.ts';

/** pino's level for a kubelet's verbosity: 2 and up debug, 5 and up trace. */
export function levelOf(verbosity: number): 'info' | 'debug' | 'trace' {
  if (verbosity >= 5) return 'trace';
  return verbosity >= 2 ? 'debug' : 'info';
}

/** Loads the formatter only if the log is text. */
async function pretty(
  destination: DestinationStream,
  form: { readonly terminal: boolean; readonly colorize: boolean },
): Promise<DestinationStream> {
  return (await import('./prettyLog.ts')).pretty(destination, form);
}

/**
 * JSON in which no character stands as it is that a terminal would obey: `journalctl` and `cat` bring it to one, wherever
 * it was written to.
 */
const quoted = (destination: DestinationStream): DestinationStream => ({
  write: (line) => destination.write(printableQuoted(line)),
});

/** Colours only where a terminal that has them, and whose user wants them (`NO_COLOR`), is written to directly. */
const hasColours = ({ terminal, destination }: { terminal: boolean; destination?: DestinationStream }): boolean =>
  terminal && destination === undefined && process.stderr.hasColors?.() === true;

/** What others have said stands in the message of a line, or in an error and its stack; all else are names. */
const withoutSecrets = ({ texts }: Redaction): Pick<LoggerOptions, 'hooks' | 'serializers'> => ({
  hooks: {
    logMethod(args, method) {
      // Each stays what it was.
      method.apply(this, args.map((part: unknown) => (typeof part === 'string' ? texts(part) : part)) as typeof args);
    },
  },
  serializers: { err: (error) => texts(stdSerializers.err(error)) },
});

/** The agent's log. */
export interface AgentLog {
  readonly logger: Logger;
  /** Keeps secrets out of what it says, and out of whatever else leaves the agent. */
  readonly redaction: Redaction;
}

/**
 * Creates the agent's log: text like a kubelet's (`component-base/logs`), or JSON lines if `logging.format` is json. On a
 * terminal, lines of text have the time of day; elsewhere the date as well, in UTC.
 */
export async function createLogger(options: {
  logging: NodeConfig['logging'];
  terminal: boolean;
  simulated: boolean;
  /** The least level instead of the verbosity's. */
  level?: 'warn';
  /** Where the lines go instead of stderr. */
  destination?: DestinationStream;
}): Promise<AgentLog> {
  const { logging, terminal, destination = pino.destination({ fd: 2, sync: true }) } = options;
  const redaction = createRedaction();
  const logger = pino(
    {
      level: options.level ?? levelOf(logging.verbosity),
      base: options.simulated ? { simulated: true } : {},
      ...withoutSecrets(redaction),
      // As journald, Loki and their like read them without being told how.
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    logging.format === 'text'
      ? await pretty(destination, { terminal, colorize: hasColours(options) })
      : quoted(destination),
  );
  return { logger, redaction };
}
