/**
 * Talks to logind over D-Bus through systemd's command-line tools. Node.js cannot receive the file descriptor that
 * `Inhibit` returns as the lock, so `systemd-inhibit` holds it in a child process. Follows
 * `pkg/kubelet/nodeshutdown/systemd/inhibit_linux.go`.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startTimeLimit } from '../../base/time/timeLimit.ts';
import { hostFiles } from '../files/fileSystem.ts';
import { replaceFile } from '../files/replaceFile.ts';
import { runLineProgram } from '../lineProgram.ts';
import { findProgram, runProgram } from '../program.ts';
import type { Logind } from './logind.ts';

interface LogindOptions {
  /** Directory of logind's drop-in files. Defaults to that of the host. */
  readonly configDirectory?: string;
  /** Address of the system bus. Defaults to that of the host. */
  readonly busAddress?: string;
}

/**
 * Timeout of a call in milliseconds. It is long, because a host that is still booting can be slow, and if a call fails
 * at startup, the node does not delay shutdowns at all. The kubelet has no timeout.
 */
const CALL_LIMIT_MS = 60_000;
/** Timeout in milliseconds for subscribing to signals and for acquiring a lock. */
const START_LIMIT_MS = 60_000;

const MANAGER = ['org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager'] as const;
/** Like the kubelet's match rule, this one does not specify the sender. */
const MATCH_RULE = `type='signal',path='${MANAGER[1]}',interface='${MANAGER[2]}',member='PrepareForShutdown'`;
/** Number of SIGHUP, the signal to send with `KillUnit` so that logind reloads its configuration. */
const RELOAD_SIGNAL = '1';
const DROP_IN_NAME = '99-kubelet.conf';

/**
 * Matches the output line that contains the argument of a signal. The output is parsed as text, because the `monitor`
 * command of `busctl` 257 does not report that it has started if its output is JSON.
 */
const ARGUMENT_PATTERN = /^\s*BOOLEAN (true|false);$/;

export function hostLogind({ configDirectory = '/etc/systemd/logind.conf.d', busAddress }: LogindOptions = {}): Logind {
  const environment: Readonly<Record<string, string>> =
    busAddress === undefined ? {} : { DBUS_SYSTEM_BUS_ADDRESS: busAddress };
  const callBus = async (args: readonly string[], signal: AbortSignal) =>
    runProgram(await programPath('busctl'), ['--system', ...args], { signal, timeoutMs: CALL_LIMIT_MS, environment });
  return {
    readInhibitDelay: async ({ signal }) => {
      const output = await callBus(['get-property', ...MANAGER, 'InhibitDelayMaxUSec'], signal);
      const microseconds = /^t (\d+)$/.exec(output.trim())?.[1];
      if (microseconds === undefined) throw new Error('InhibitDelayMaxUSec from logind is not a uint64 as expected');
      return Number(microseconds) / 1_000;
    },
    raiseInhibitDelay: async (delayMs, { signal }) => {
      await mkdir(configDirectory, { recursive: true, mode: 0o755 });
      const content = `# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=${Math.round(delayMs / 1_000)}\n`;
      await replaceFile(hostFiles, join(configDirectory, DROP_IN_NAME), { content, mode: 0o644 });
      const systemdManager = [
        'org.freedesktop.systemd1',
        '/org/freedesktop/systemd1',
        'org.freedesktop.systemd1.Manager',
      ];
      await callBus(
        ['call', ...systemdManager, 'KillUnit', 'ssi', 'systemd-logind.service', 'all', RELOAD_SIGNAL],
        signal,
      );
    },
    watchShutdown: ({ signal, onWatching, onChange }) =>
      withinStartLimit(signal, async (limitedSignal, noteStart) => {
        const monitor = [await programPath('busctl'), '--system', `--match=${MATCH_RULE}`, 'monitor'];
        const [program = '', ...args] = await withParentDeathSignal(monitor);
        await runLineProgram(program, args, {
          signal: limitedSignal,
          environment: { ...environment, SYSTEMD_LOG_LEVEL: 'info', SYSTEMD_LOG_TARGET: 'console' },
          onLine: (line) => {
            // Like the kubelet, ignore a signal without a boolean argument.
            const argument = ARGUMENT_PATTERN.exec(line)?.[1];
            if (argument !== undefined) onChange(argument === 'true');
          },
          onErrorLine: (line) => {
            if (!line.includes('Monitoring bus')) return;
            noteStart();
            onWatching();
          },
        });
      }),
    holdLock: ({ signal, onLocked }) =>
      withinStartLimit(signal, async (limitedSignal, noteStart) => {
        const lock = ['--what=shutdown', '--who=kubelet', '--why=Kubelet needs time to handle node shutdown'];
        // The lock is held until the input of `cat` ends, which also happens if the agent is killed.
        const command = ['sh', '-c', 'echo && exec cat'];
        await runLineProgram(await programPath('systemd-inhibit'), [...lock, '--mode=delay', ...command], {
          signal: limitedSignal,
          environment,
          onLine: () => {
            noteStart();
            onLocked();
          },
        });
      }),
  };
}

async function programPath(name: string): Promise<string> {
  const path = await findProgram(name);
  if (path === undefined) throw new Error(`the program ${name} of systemd is not installed`);
  return path;
}

/**
 * Returns a command that is terminated when the agent dies, or the command itself if the host does not support that.
 */
async function withParentDeathSignal(command: readonly string[]): Promise<readonly string[]> {
  const setpriv = await findProgram('setpriv');
  return setpriv === undefined ? command : [setpriv, '--pdeathsig', 'TERM', ...command];
}

/**
 * Runs `act`, which starts a program. Aborts its signal and rejects unless `act` calls `noteStart` within the time
 * limit.
 */
async function withinStartLimit(
  signal: AbortSignal,
  act: (signal: AbortSignal, noteStart: () => void) => Promise<void>,
): Promise<void> {
  const limit = startTimeLimit(START_LIMIT_MS);
  try {
    await act(AbortSignal.any([signal, limit.signal]), limit.clear);
  } finally {
    limit.clear();
  }
  if (limit.signal.aborted) throw new Error(`no response within ${START_LIMIT_MS / 1_000} s`);
}
