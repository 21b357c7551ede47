/**
 * Writes the log as text in klog's format, as the kubelet does: `I1129 03:15:00.000000    1234 file.ts:12] "message"
 * key="value"`. The source of the format is `formatHeader` in `k8s.io/klog/v2/internal/buffer/buffer.go` and `KVFormat`
 * in `k8s.io/klog/v2/internal/serialize/keyvalues.go`.
 */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DestinationStream } from 'pino';
import * as z from 'zod/mini';
import { printableText } from '../../base/text/printable.ts';
import { quotedText } from '../../base/text/quotedText.ts';
import { isoTime } from '../../kubernetes/api/values/rfc3339.ts';

/** klog's severities by pino's level. klog has none below info, so verbose lines have the severity info. */
const SEVERITY_BY_LEVEL: ReadonlyMap<string, string> = new Map([
  ['warn', 'W'],
  ['error', 'E'],
  ['fatal', 'F'],
]);

/** Width of the process ID in characters. */
const PID_WIDTH = 7;

const recordSchema = z.looseObject({
  level: z.string(),
  time: z.string(),
  msg: z._default(z.string(), ''),
  caller: z._default(z.string(), 'statelet:1'),
  simulated: z.optional(z.boolean()),
});
const errorSchema = z.looseObject({ message: z.string(), stack: z.optional(z.string()) });

/** Formats pino's lines as text, synchronously so that the last lines before an exit are not lost. */
export const createTextLog = (destination: DestinationStream): DestinationStream => ({
  write: (line) => destination.write(formatTextLine(line)),
});

/** Formats one of pino's JSON lines as text. Any other line is returned with its control characters escaped. */
export function formatTextLine(line: string): string {
  const logRecord = parseRecord(line);
  if (logRecord === undefined) return printableText(line);
  const { level, time, msg, caller, simulated, ...fields } = logRecord;
  const lineHeader = `${SEVERITY_BY_LEVEL.get(level) ?? 'I'}${headerTime(new Date(time))} ${String(process.pid).padStart(PID_WIDTH)} ${caller}]`;
  const message = `${simulated ? '[simulated] ' : ''}${msg.replace(/\s*\n\s*/g, ' ').trim()}`;
  const fieldPairs = Object.entries(fields).map(([key, value]) =>
    key === 'err' ? formatError(value) : ` ${key}=${formatValue(value)}`,
  );
  return `${lineHeader} ${quotedText(message)}${fieldPairs.join('')}\n`;
}

/** Parses one of pino's lines. Returns undefined for any other line. */
export function parseRecord(line: string): z.infer<typeof recordSchema> | undefined {
  try {
    return recordSchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Formats the time in the local time zone, as klog does, e.g. `1129 03:15:00.000000`. */
function headerTime(time: Date): string {
  const localTime = isoTime(time.getTime() - time.getTimezoneOffset() * 60_000);
  const millisecondsText = String(time.getUTCMilliseconds()).padStart(3, '0');
  return `${localTime.slice(5, 7)}${localTime.slice(8, 10)} ${localTime.slice(11, 19)}.${millisecondsText}000`;
}

function formatValue(value: unknown): string {
  if (typeof value === 'string') return value.includes('\n') ? formatLines(value) : quotedText(value);
  return printableText(JSON.stringify(value) ?? 'null');
}

/** Formats several lines as klog does: `<`, the indented lines, and `>`. */
const formatLines = (text: string): string =>
  `<\n${text
    .trimEnd()
    .split('\n')
    .map((line) => `\t${printableText(line)}\n`)
    .join('')} >`;

/** Returns an error as pino serializes it, or undefined for any other value. */
export const parseError = (value: unknown): z.infer<typeof errorSchema> | undefined =>
  errorSchema.safeParse(value).data;

/** Formats an error with its stack. */
function formatError(value: unknown): string {
  const error = parseError(value);
  if (error === undefined) return ` err=${formatValue(value)}`;
  const { message, stack } = error;
  return ` err=${quotedText(message)}${stack === undefined ? '' : ` stack=${formatLines(stack)}`}`;
}

/**
 * Number of the log statement's frame in the stack of `callerOfLog`, counted from 1. The frames before it are
 * `callerOfLog` itself, `write` and `LOG` of pino, the `logMethod` hook, and the function of pino that calls the hook.
 * They are counted rather than matched by name, because only `callerOfLog` has the same name in the bundle.
 */
const STATEMENT_FRAME = 6;

/** The file of the daemon's bundle, to which positions in a stack trace refer. */
const BUNDLE_FILE = 'daemon.js';
const callersSchema = z.record(z.string(), z.string());

/**
 * Reads the log statements in the daemon's bundle, with their source files and lines, from the file that
 * scripts/build.mjs writes.
 */
function callersInBundle(): ReadonlyMap<string, string> {
  try {
    const callersJson = readFileSync(join(import.meta.dirname, 'callers.json'), 'utf8');
    return new Map(Object.entries(callersSchema.parse(JSON.parse(callersJson))));
  } catch {
    // The file is missing, so the log contains positions in the bundle instead.
    return new Map();
  }
}

let callersByPosition: ReadonlyMap<string, string> | undefined;

/** Returns the source file and line of a position in the daemon's bundle. */
function callerInBundle(position: string): string | undefined {
  callersByPosition ??= callersInBundle();
  return callersByPosition.get(position);
}

/**
 * Returns the source file and line of the current log statement. The logger must be a pino logger with a `logMethod`
 * hook.
 */
export function callerOfLog(): { readonly caller?: string } {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = STATEMENT_FRAME;
  // The first line of the stack is the error's message, so the index of a frame is its number.
  const stackFrames = new Error('stack').stack?.split('\n') ?? [];
  Error.stackTraceLimit = stackTraceLimit;
  const [, path, line, column] = /([^\s(]+):(\d+):(\d+)\)?$/.exec(stackFrames[STATEMENT_FRAME] ?? '') ?? [];
  if (path === undefined) return {};
  const file = basename(path);
  const source = file === BUNDLE_FILE ? callerInBundle(`${line}:${column}`) : undefined;
  return { caller: source ?? `${file}:${line}` };
}
