import pino, { type DestinationStream, type Logger, type LoggerOptions, stdSerializers } from 'pino';
import { createRedaction, type Redaction } from '../../actors/replay/redaction.ts';
import { printableQuoted } from '../../base/printable.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';

/** pino's level for a kubelet's verbosity: 2 and up debug, 5 and up trace. */
export function levelOf(verbosity: number): 'info' | 'debug' | 'trace' {
  if (verbosity >= 5) return 'trace';
  return verbosity >= 2 ? 'debug' : 'info';
}

/** Loads the formatter only if the log is text. */
async function textOn(destination: DestinationStream, isShort: boolean): Promise<DestinationStream> {
  return isShort
    ? (await import('./prettyLog.ts')).pretty(destination)
    : (await import('./textLog.ts')).textLog(destination);
}

/**
 * JSON in which no character stands as it is that a terminal would obey: `journalctl` and `cat` bring it to one, wherever
 * it was written to.
 */
const quoted = (destination: DestinationStream): DestinationStream => ({
  write: (line) => destination.write(printableQuoted(line)),
});

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
 * Creates the agent's log: text in klog's format as a kubelet's (`component-base/logs`), or JSON lines if `logging.format` is
 * json.
 */
export async function createLogger(options: {
  logging: NodeConfig['logging'];
  simulated: boolean;
  /** Whether a line has only the time of day, the level and the message, as for the user of a command. */
  isShort?: boolean;
  /** The least level instead of the verbosity's. */
  level?: 'warn';
  /** Where the lines go instead of stderr. */
  destination?: DestinationStream;
}): Promise<AgentLog> {
  const { logging, isShort = false, destination = pino.destination({ fd: 2, sync: true }) } = options;
  const redaction = createRedaction();
  const isText = logging.format === 'text';
  const callers = isText && !isShort ? { mixin: (await import('./textLog.ts')).callerOfLog } : {};
  const logger = pino(
    {
      level: options.level ?? levelOf(logging.verbosity),
      base: options.simulated ? { simulated: true } : {},
      ...withoutSecrets(redaction),
      ...callers,
      // Collectors such as journald and Loki recognize these names and formats.
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    isText ? await textOn(destination, isShort) : quoted(destination),
  );
  return { logger, redaction };
}
