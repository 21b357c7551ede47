/**
 * Notifies systemd of the agent's state if the agent runs as a service with `Type=notify`
 * (`pkg/kubelet/watchdog/watchdog_linux.go`).
 */
import type { Logger } from 'pino';
import { messageOf } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import { runProgram } from '../../host/program.ts';
import type { HealthCheck } from '../../kubelet-api/listener/health.ts';
import { ConfigError } from '../config/configError.ts';

/** Watchdog timeouts must be longer than this many milliseconds. A shorter timeout would kill a healthy agent. */
const WATCHDOG_LOWER_BOUND_MS = 1_000;

/** Timeout of one notification in milliseconds. It is generous because systemd may read the notification late. */
const NOTIFY_TIMEOUT_MS = 10_000;

type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** The notifications that systemd expects from this process. */
export interface NotifyOptions {
  /**
   * The path of the notification socket, or its abstract name with a leading `@`. Undefined if only the watchdog is
   * configured.
   */
  readonly socket: string | undefined;
  /** Timeout of systemd's watchdog in milliseconds. Undefined if the watchdog is disabled. */
  readonly watchdogMs?: number;
}

/**
 * Reads the notification options from the environment of the process with this PID. Returns undefined if systemd
 * expects no notifications. Like the kubelet, throws a `ConfigError` if the watchdog timeout is invalid or too short.
 */
export function readNotifyOptions(environment: EnvironmentVariables, pid: number): NotifyOptions | undefined {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: micros, WATCHDOG_PID: owner } = environment;
  const watchdogMs = micros && (!owner || isOwnerPid(owner, pid)) ? parseWatchdogMs(micros) : undefined;
  if (!socket && watchdogMs === undefined) return undefined;
  return { socket: socket || undefined, ...(watchdogMs === undefined ? {} : { watchdogMs }) };
}

function isOwnerPid(owner: string, pid: number): boolean {
  if (!/^\d+$/.test(owner)) throw new ConfigError(`WATCHDOG_PID: expected the id of a process, got "${owner}"`);
  return Number(owner) === pid;
}

function parseWatchdogMs(micros: string): number {
  const ms = Number(micros) / 1_000;
  if (!/^\d+$/.test(micros) || ms === 0)
    throw new ConfigError(`WATCHDOG_USEC: expected a positive number of microseconds, got "${micros}"`);
  if (ms <= WATCHDOG_LOWER_BOUND_MS)
    throw new ConfigError(`WATCHDOG_USEC: ${ms / 1_000}s is too short, WatchdogSec has to be more than 1s`);
  return ms;
}

interface SystemdDependencies {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** The health checks that must pass before the watchdog is notified. */
  readonly checks: readonly HealthCheck[];
}

export interface SystemdNotifier {
  /** Reports that the agent has started. Afterwards, notifies the watchdog while the health checks pass. */
  ready(): Promise<void>;
  /** Reports that the agent is stopping. */
  stopping(): Promise<void>;
}

/** Creates a notifier. If a notification cannot be sent, the notifier logs the error and does not throw. */
export function createSystemdNotifier(
  { socket, watchdogMs }: NotifyOptions,
  dependencies: SystemdDependencies,
): SystemdNotifier {
  const { clock, logger, checks } = dependencies;
  const abortController = new AbortController();
  let timer: unknown;
  const sendState = async (state: string, signal: AbortSignal) => {
    try {
      if (socket === undefined) throw new Error('NOTIFY_SOCKET is not set');
      await notifySystemd(state, socket, signal);
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, `cannot notify systemd of ${state}: ${messageOf(error)}`);
    }
  };
  const notifyWatchdog = async () => {
    timer = clock.setTimeout(() => void notifyWatchdog(), (watchdogMs ?? 0) / 2);
    const checkFailure = describeFailedCheck(checks);
    // Do not notify the watchdog if a check has failed, so that systemd restarts the agent.
    if (checkFailure !== undefined)
      logger.error(`the watchdog of systemd is not notified, because the agent is unhealthy: ${checkFailure}`);
    else await sendState('WATCHDOG=1', abortController.signal);
  };
  return {
    ready: async () => {
      await sendState('READY=1', abortController.signal);
      if (watchdogMs !== undefined && !abortController.signal.aborted) void notifyWatchdog();
    },
    stopping: async () => {
      abortController.abort();
      clock.clearTimeout(timer);
      await sendState('STOPPING=1', new AbortController().signal);
    },
  };
}

/** Returns the name of the first check that fails, and its error. */
function describeFailedCheck(checks: readonly HealthCheck[]): string | undefined {
  for (const { name, runCheck } of checks) {
    try {
      runCheck();
    } catch (error) {
      return `${name}: ${messageOf(error)}`;
    }
  }
  return undefined;
}

/**
 * Sends a notification with `systemd-notify`, because Node.js has no Unix datagram sockets. If the agent does not run
 * as root, its unit must set `NotifyAccess=all`.
 */
async function notifySystemd(state: string, socket: string, signal: AbortSignal): Promise<void> {
  const options = { signal, timeoutMs: NOTIFY_TIMEOUT_MS, environment: { NOTIFY_SOCKET: socket } };
  await runProgram('systemd-notify', [state], options);
}
