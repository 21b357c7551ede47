/**
 * Writes the log as JSON lines with the same fields as the kubelet's log:
 * `{"ts":1796238900000,"caller":"file.ts:12","msg":"message","v":0}`. The source of the format is `logs/json/json.go`
 * of `k8s.io/component-base`, with zapr's fields for verbosity and errors.
 */
import type { DestinationStream } from 'pino';
import { escapeUnsafeCharacters } from '../../base/text/printable.ts';
import { parseError, parseRecord } from './textLog.ts';

/** Verbosity of each of pino's levels. Error lines have no verbosity. */
const VERBOSITY_BY_LEVEL: ReadonlyMap<string, number> = new Map([
  ['trace', 5],
  ['debug', 2],
  ['info', 0],
  ['warn', 0],
]);

/**
 * Formats pino's lines. All control characters are escaped, because `journalctl` and `cat` print the log to a terminal that
 * would interpret them.
 */
export const jsonLog = (destination: DestinationStream): DestinationStream => ({
  write: (line) => destination.write(jsonLine(line)),
});

/** Formats one of pino's lines. Any other line is only escaped. */
export function jsonLine(line: string): string {
  const logRecord = parseRecord(line);
  if (logRecord === undefined) return escapeUnsafeCharacters(line);
  const { level, time, msg, caller, err, ...fields } = logRecord;
  const v = VERBOSITY_BY_LEVEL.get(level);
  const verbosityField = v === undefined ? {} : { v };
  const formattedRecord = { ts: Date.parse(time), caller, msg, ...verbosityField, ...fields, ...errorFields(err) };
  return escapeUnsafeCharacters(`${JSON.stringify(formattedRecord)}\n`);
}

/** Returns an error's message, and its stack in the format that zap uses for error details. */
function errorFields(err: unknown): object {
  const error = parseError(err);
  if (error === undefined) return err === undefined ? {} : { err };
  const { message, stack } = error;
  return stack === undefined ? { err: message } : { err: message, errVerbose: stack };
}
