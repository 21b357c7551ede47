/** Tells systemd how the agent is, where it is a service of `Type=notify` (`pkg/kubelet/watchdog/watchdog_linux.go`). */
import type { Logger } from 'pino';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import { runProgram } from '../../host/program.ts';
import type { Check } from '../../kubelet-api/listener/health.ts';
import { ConfigError } from '../config/configError.ts';

/** A watchdog that is so impatient, in milliseconds, would end an agent that is well. */
const LEAST_WATCHDOG_MS = 1_000;

/** So long one word may take, in milliseconds: systemd reads it when it comes to it. */
const NOTIFY_MS = 10_000;

type Environment = Readonly<Record<string, string | undefined>>;

/** What systemd wants to hear of this process, and where. */
export interface SystemdWants {
  /** The path of a socket, or with a leading `@` its abstract name. */
  readonly socket: string | undefined;
  /** How long, in milliseconds, the agent may say nothing; absent: for ever. */
  readonly watchdogMs?: number;
}

/**
 * Reads it from the environment of the process with this id; undefined where systemd wants to hear nothing. Throws a
 * `ConfigError` for a watchdog that the agent could not live with, as a kubelet refuses to start then.
 */
export function systemdWants(environment: Environment, pid: number): SystemdWants | undefined {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: micros, WATCHDOG_PID: owner } = environment;
  const watchdogMs = micros && (!owner || isOf(owner, pid)) ? watchdogOf(micros) : undefined;
  if (!socket && watchdogMs === undefined) return undefined;
  return { socket: socket || undefined, ...(watchdogMs === undefined ? {} : { watchdogMs }) };
}

function isOf(owner: string, pid: number): boolean {
  if (!/^\d+$/.test(owner)) throw new ConfigError(`WATCHDOG_PID: expected the id of a process, got "${owner}"`);
  return Number(owner) === pid;
}

function watchdogOf(micros: string): number {
  const ms = Number(micros) / 1_000;
  if (!/^\d+$/.test(micros) || ms === 0)
    throw new ConfigError(`WATCHDOG_USEC: expected a positive number of microseconds, got "${micros}"`);
  if (ms <= LEAST_WATCHDOG_MS)
    throw new ConfigError(`WATCHDOG_USEC: ${ms / 1_000}s is too short, WatchdogSec has to be more than 1s`);
  return ms;
}

interface SystemdParts {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** What has to hold for the agent to be well. */
  readonly checks: readonly Check[];
}

export interface Systemd {
  /** That the agent has started; from now on its watchdog is told that it lives, as long as it is well. */
  ready(): Promise<void>;
  /** That it ends. */
  stopping(): Promise<void>;
}

/** Says nothing until it is told to. What cannot be said is logged, and changes nothing else. */
export function tellSystemd({ socket, watchdogMs }: SystemdWants, parts: SystemdParts): Systemd {
  const { clock, logger, checks } = parts;
  const end = new AbortController();
  let timer: unknown;
  const say = async (word: string, signal: AbortSignal) => {
    try {
      if (socket === undefined) throw new Error('NOTIFY_SOCKET is not set');
      await notify(word, socket, signal);
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, `systemd cannot be told ${word}: ${messageOf(error)}`);
    }
  };
  const feed = async () => {
    timer = clock.setTimeout(() => void feed(), (watchdogMs ?? 0) / 2);
    const why = failureOf(checks);
    // Silence is what systemd acts on.
    if (why !== undefined) logger.error(`the watchdog of systemd is not fed, as the agent is not well: ${why}`);
    else await say('WATCHDOG=1', end.signal);
  };
  return {
    ready: async () => {
      await say('READY=1', end.signal);
      if (watchdogMs !== undefined && !end.signal.aborted) void feed();
    },
    stopping: async () => {
      end.abort();
      clock.clearTimeout(timer);
      await say('STOPPING=1', new AbortController().signal);
    },
  };
}

/** Why the first that fails does. */
function failureOf(checks: readonly Check[]): string | undefined {
  for (const { name, check } of checks) {
    try {
      check();
    } catch (error) {
      return `${name}: ${messageOf(error)}`;
    }
  }
  return undefined;
}

/**
 * Node.js has no datagram sockets of Unix. systemd's own program is wherever systemd is; run by root it speaks for the
 * process that has started it, else the unit needs `NotifyAccess=all`.
 */
async function notify(word: string, socket: string, signal: AbortSignal): Promise<void> {
  const options = { signal, timeoutMs: NOTIFY_MS, environment: { NOTIFY_SOCKET: socket } };
  await runProgram('systemd-notify', [word], options);
}
