import pino, { type DestinationStream, type Logger, type LoggerOptions, stdSerializers } from 'pino';
import { createRedaction, type Redaction } from '../../actors/replay/redaction.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';

/** Returns pino's level for the kubelet's verbosity: info for 0 and 1, debug from 2, and trace from 5. */
export function toPinoLevel(verbosity: number): 'info' | 'debug' | 'trace' {
  if (verbosity >= 5) return 'trace';
  return verbosity >= 2 ? 'debug' : 'info';
}

/** Loads only the formatter that the format requires. */
async function createFormattedStream(
  destination: DestinationStream,
  format: 'text' | 'json',
  usesShortFormat: boolean,
): Promise<DestinationStream> {
  if (format === 'json') return (await import('./jsonLog.ts')).jsonLog(destination);
  return usesShortFormat
    ? (await import('./prettyLog.ts')).prettyLog(destination)
    : (await import('./textLog.ts')).createTextLog(destination);
}

/** Redacts secrets in the message and the error of a line. The other fields contain only names and are not redacted. */
const withoutSecrets = ({ texts }: Redaction): Pick<LoggerOptions, 'hooks' | 'serializers'> => ({
  hooks: {
    logMethod(args, method) {
      // Safe cast: redaction preserves the type of each argument.
      method.apply(this, args.map((arg: unknown) => (typeof arg === 'string' ? texts(arg) : arg)) as typeof args);
    },
  },
  serializers: { err: (error) => texts(stdSerializers.err(error)) },
});

export interface AgentLog {
  readonly logger: Logger;
  /** Redacts secrets in log lines and in everything else that leaves the agent. */
  readonly redaction: Redaction;
}

/**
 * Creates the agent's log. It writes text in klog's format, as the kubelet does (`component-base/logs`), or JSON lines
 * with the fields of the kubelet's log if `logging.format` is json.
 */
export async function createLogger(options: {
  logging: NodeConfig['logging'];
  isSimulated: boolean;
  /** Whether a line has only the time of day, the level and the message, as users of a command expect. */
  usesShortFormat?: boolean;
  /** Overrides the level that the verbosity selects. */
  level?: 'warn';
  /** Stream to write to. Defaults to stderr. */
  destination?: DestinationStream;
}): Promise<AgentLog> {
  const { logging, usesShortFormat = false, destination = pino.destination({ fd: 2, sync: true }) } = options;
  const logRedaction = createRedaction();
  const includesCallers = logging.format === 'json' || !usesShortFormat;
  const callerOptions = includesCallers ? { mixin: (await import('./textLog.ts')).callerOfLog } : {};
  const logger = pino(
    {
      level: options.level ?? toPinoLevel(logging.verbosity),
      base: options.isSimulated ? { simulated: true } : {},
      ...withoutSecrets(logRedaction),
      ...callerOptions,
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    await createFormattedStream(destination, logging.format, usesShortFormat),
  );
  return { logger, redaction: logRedaction };
}
