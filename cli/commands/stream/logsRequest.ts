/** Parses the options of `statelet logs`, with kubectl's error messages. */

import { parseDuration } from '../../../kubernetes/api/values/parseDuration.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import { parsePodName } from '../get/explain.ts';

export interface LogsOptions {
  readonly namespace?: string;
  readonly container?: string;
  readonly follow?: boolean;
  readonly previous?: boolean;
  readonly tail?: string;
  readonly since?: string;
  readonly sinceTime?: string;
  readonly timestamps?: boolean;
  readonly allContainers?: boolean;
  readonly prefix?: boolean;
  readonly limitBytes?: string;
  readonly rootDir?: string;
  readonly stateDir?: string;
}

export interface LogsRequest {
  /** Name or UID of the pod. */
  readonly name: string;
  /** Name of the container. Undefined for the default container or, with `--all-containers`, for all containers. */
  readonly container: string | undefined;
  readonly tailLines: number | undefined;
  /** Time from which the log is printed, in milliseconds since the epoch. */
  readonly since: number | undefined;
  readonly limitBytes: number | undefined;
}

/** Validates the arguments and options. `now` is in milliseconds since the epoch. */
export function parseLogsRequest(args: readonly string[], options: LogsOptions, now: number): LogsRequest {
  const [pod = '', inline] = args;
  const { container = inline, allContainers = false } = options;
  if (allContainers && container !== undefined)
    throw new ConfigError(`--all-containers=true should not be specified with container name ${container}`);
  if (options.container !== undefined && inline !== undefined)
    throw new ConfigError('only one of -c or an inline [CONTAINER] arg is allowed');
  const tail = parseInteger('--tail', options.tail) ?? -1;
  if (tail < -1) throw new ConfigError('--tail must be greater than or equal to -1');
  const limitBytes = parseInteger('--limit-bytes', options.limitBytes) ?? 0;
  if (limitBytes < 0) throw new ConfigError('--limit-bytes must be greater than 0');
  return {
    name: parsePodName([pod]),
    container,
    since: sinceTimestamp(options, now),
    tailLines: tail === -1 ? undefined : tail,
    limitBytes: limitBytes === 0 ? undefined : limitBytes,
  };
}

function parseInteger(flag: string, flagValue: string | undefined): number | undefined {
  if (flagValue === undefined) return undefined;
  const value = /^-?\d+$/.test(flagValue) ? Number(flagValue) : Number.NaN;
  if (!Number.isSafeInteger(value))
    throw new ConfigError(`${flag}: expected a whole number, got ${JSON.stringify(flagValue)}`);
  return value;
}

const RFC3339_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function sinceTimestamp({ since, sinceTime }: LogsOptions, now: number): number | undefined {
  const sinceMs = since === undefined ? 0 : parseSince(since);
  if (sinceTime === undefined) return sinceMs === 0 ? undefined : now - sinceMs;
  if (sinceMs !== 0) throw new ConfigError('at most one of `sinceTime` or `sinceSeconds` may be specified');
  const timestampMs = RFC3339_PATTERN.test(sinceTime) ? Date.parse(sinceTime) : Number.NaN;
  if (!Number.isNaN(timestampMs)) return timestampMs;
  throw new ConfigError(
    `--since-time: expected a time (RFC 3339) such as 2026-01-31T12:00:00Z, got ${JSON.stringify(sinceTime)}`,
  );
}

function parseSince(since: string): number {
  if (since.startsWith('-') && parseDuration(since.slice(1)) !== undefined)
    throw new ConfigError('--since must be greater than 0');
  const durationMs = parseDuration(since);
  if (durationMs !== undefined) return durationMs;
  throw new ConfigError(`--since: expected a duration such as 5s, 2m or 3h, got ${JSON.stringify(since)}`);
}
