/** What `statelet logs` is asked for; mistakes are told in kubectl's words. */

import { parseDuration } from '../../../kubernetes/api/parseDuration.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import { podNameOf } from '../get/explain.ts';

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

export interface LogsWanted {
  /** The pod, by any of its names. */
  readonly name: string;
  /** Absent: the default one, or all. */
  readonly container: string | undefined;
  readonly tailLines: number | undefined;
  /** In milliseconds since the epoch. */
  readonly since: number | undefined;
  readonly limitBytes: number | undefined;
}

/** Reads words and options; `now` is in milliseconds since the epoch. */
export function logsWanted(words: readonly string[], options: LogsOptions, now: number): LogsWanted {
  const [pod = '', inline] = words;
  const { container = inline, allContainers = false } = options;
  if (allContainers && container !== undefined)
    throw new ConfigError(`--all-containers=true should not be specified with container name ${container}`);
  if (options.container !== undefined && inline !== undefined)
    throw new ConfigError('only one of -c or an inline [CONTAINER] arg is allowed');
  const tail = wholeNumber('--tail', options.tail) ?? -1;
  if (tail < -1) throw new ConfigError('--tail must be greater than or equal to -1');
  const limit = wholeNumber('--limit-bytes', options.limitBytes) ?? 0;
  if (limit < 0) throw new ConfigError('--limit-bytes must be greater than 0');
  return {
    name: podNameOf([pod]),
    container,
    since: sinceOf(options, now),
    tailLines: tail === -1 ? undefined : tail,
    limitBytes: limit === 0 ? undefined : limit,
  };
}

function wholeNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(number))
    throw new ConfigError(`${flag}: expected a whole number, got ${JSON.stringify(text)}`);
  return number;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function sinceOf({ since, sinceTime }: LogsOptions, now: number): number | undefined {
  const ago = since === undefined ? 0 : agoOf(since);
  if (sinceTime === undefined) return ago === 0 ? undefined : now - ago;
  if (ago !== 0) throw new ConfigError('at most one of `sinceTime` or `sinceSeconds` may be specified');
  const time = TIME.test(sinceTime) ? Date.parse(sinceTime) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new ConfigError(
    `--since-time: expected a time (RFC 3339) such as 2026-01-31T12:00:00Z, got ${JSON.stringify(sinceTime)}`,
  );
}

function agoOf(since: string): number {
  if (since.startsWith('-') && parseDuration(since.slice(1)) !== undefined)
    throw new ConfigError('--since must be greater than 0');
  const ago = parseDuration(since);
  if (ago !== undefined) return ago;
  throw new ConfigError(`--since: expected a duration such as 5s, 2m or 3h, got ${JSON.stringify(since)}`);
}
