import pino, { type DestinationStream, type Logger, type LoggerOptions, stdSerializers } from 'pino';
import { createRedaction, type Redaction } from '../../actors/replay/redaction.ts';
import { printableQuoted } from '../../base/printable.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';

/** Returns pino's level for a kubelet's verbosity, which is debug from 2 and trace from 5. */
export function levelOf(verbosity: number): 'info' | 'debug' | 'trace' {
  if (verbosity >= 5) return 'trace';
  return verbosity >= 2 ? 'debug' : 'info';
}

/** Loads the formatter only if the log is text. */
async function textStream(destination: DestinationStream, isShort: boolean): Promise<DestinationStream> {
  return isShort
    ? (await import('./prettyLog.ts')).prettyLog(destination)
    : (await import('./textLog.ts')).textLog(destination);
}

/**
 * Writes JSON with all control characters escaped, because `journalctl` and `cat` print the log to a terminal that would
 * interpret them.
 */
const escapedJson = (destination: DestinationStream): DestinationStream => ({
  write: (line) => destination.write(printableQuoted(line)),
});

/** Redacts the message and the error of a line. The other fields contain only names. */
const withoutSecrets = ({ texts }: Redaction): Pick<LoggerOptions, 'hooks' | 'serializers'> => ({
  hooks: {
    logMethod(args, method) {
      // The cast holds, because redaction preserves the type of each argument.
      method.apply(this, args.map((arg: unknown) => (typeof arg === 'string' ? texts(arg) : arg)) as typeof args);
    },
  },
  serializers: { err: (error) => texts(stdSerializers.err(error)) },
});

/** The agent's log. */
export interface AgentLog {
  readonly logger: Logger;
  /** Redacts secrets in log lines and in everything else that leaves the agent. */
  readonly redaction: Redaction;
}

/**
 * Creates the agent's log. It writes text in klog's format as a kubelet does (`component-base/logs`), or JSON lines if
 * `logging.format` is json.
 */
export async function createLogger(options: {
  logging: NodeConfig['logging'];
  simulated: boolean;
  /** Whether a line has only the time of day, the level and the message, as users of a command expect. */
  isShort?: boolean;
  /** Replaces the level of the verbosity. */
  level?: 'warn';
  /** Default stderr. */
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
    isText ? await textStream(destination, isShort) : escapedJson(destination),
  );
  return { logger, redaction };
}
