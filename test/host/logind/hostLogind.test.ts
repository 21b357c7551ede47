/** The programs of systemd on a private message bus, with a fake login manager. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { hostLogind } from '../../../host/logind/hostLogind.ts';
import { findProgram } from '../../../host/program.ts';
import { eventually } from '../../e2e/support/eventually.ts';

const LIMIT_MS = 20_000;

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** Starts a program and collects its output lines. */
async function start(name: string, args: readonly string[]): Promise<{ child: Child; lines: string[] }> {
  const program = await findProgram(name);
  if (program === undefined) throw new Error(`${name} is not installed: npm test installs it`);
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => void lines.push(line));
  return { child, lines };
}

async function stop({ child }: { child: Child }): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

const busConfig = (socket: string) => `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>custom</type>
  <listen>unix:path=${socket}</listen>
  <policy context="default">
    <allow own="*"/>
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
  </policy>
</busconfig>
`;

let directory: string;
let bus: Awaited<ReturnType<typeof start>>;
let fake: Awaited<ReturnType<typeof start>>;
let controller: AbortController;

/** Starts the login manager with this maximum delay in seconds. */
async function startLogind(delaySeconds: number) {
  const script = join(import.meta.dirname, 'fakeLogind.py');
  fake = await start('python3', [script, join(directory, 'bus'), configDirectory(), `${delaySeconds * 1_000_000}`]);
  await eventually('the login manager is ready', () => fake.lines.includes('ready'), LIMIT_MS);
}

const configDirectory = () => join(directory, 'logind.conf.d');
const logind = () =>
  hostLogind({ configDirectory: configDirectory(), busAddress: `unix:path=${join(directory, 'bus')}` });
const command = (line: string) => fake.child.stdin.write(`${line}\n`);

const { PATH = '' } = process.env;
afterEach(() => {
  process.env.PATH = PATH;
});

/** Runs this shell code before each `busctl`. */
async function replaceBusctl(code: string): Promise<void> {
  const program = await findProgram('busctl');
  await writeFile(join(directory, 'busctl'), `#!/bin/sh\n${code}\nexec ${program} "$@"\n`, { mode: 0o755 });
  process.env.PATH = `${directory}:${PATH}`;
}

beforeEach(async () => {
  controller = new AbortController();
  directory = await mkdtemp(join(tmpdir(), 'statelet-bus-'));
  const config = join(directory, 'bus.conf');
  await writeFile(config, busConfig(join(directory, 'bus')));
  bus = await start('dbus-daemon', [`--config-file=${config}`, '--nofork', '--nosyslog']);
  await eventually('the bus listens', () => existsSync(join(directory, 'bus')), LIMIT_MS);
});

afterEach(async () => {
  controller.abort();
  if (fake !== undefined) await stop(fake);
  await stop(bus);
  await rm(directory, { recursive: true });
});

describe('C49: logind on a message bus', () => {
  test(
    'reads the maximum delay, and raises it in a drop-in file that logind reloads',
    async () => {
      await startLogind(5);
      const { signal } = controller;
      expect(await logind().readInhibitDelay({ signal })).toBe(5_000);
      await logind().raiseInhibitDelay(45_000, { signal });
      const file = join(configDirectory(), '99-kubelet.conf');
      expect(await readFile(file, 'utf8')).toBe('# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=45\n');
      expect((await stat(file)).mode & 0o777).toBe(0o644);
      expect(fake.lines).toContain('killed systemd-logind.service all 1');
      // logind applies the configuration asynchronously.
      expect(await logind().readInhibitDelay({ signal })).toBe(5_000);
      expect(await logind().readInhibitDelay({ signal })).toBe(45_000);
    },
    LIMIT_MS,
  );

  test(
    'holds the lock until it is released',
    async () => {
      await startLogind(5);
      let isLocked = false;
      const lock = logind().holdLock({ signal: controller.signal, onLocked: () => (isLocked = true) });
      await eventually('the lock is held', () => isLocked, LIMIT_MS);
      expect(fake.lines).toContain('locked shutdown|kubelet|Kubelet needs time to handle node shutdown|delay');
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(fake.lines).not.toContain('released');
      controller.abort();
      await lock;
      await eventually('the lock is released', () => fake.lines.includes('released'), LIMIT_MS);
    },
    LIMIT_MS,
  );

  test(
    'reports why a lock is refused',
    async () => {
      await startLogind(5);
      command('refuse');
      const lock = logind().holdLock({ signal: controller.signal, onLocked: () => {} });
      await expect(lock).rejects.toThrow('Access denied');
    },
    LIMIT_MS,
  );

  test(
    'reports shutdowns and their cancellation until it is stopped, also with the busctl of systemd 257',
    async () => {
      await startLogind(5);
      await replaceBusctl('case "$*" in *--json*) exec 2> /dev/null ;; esac');
      const signals: boolean[] = [];
      let isWatching = false;
      const watch = logind().watchShutdown({
        signal: controller.signal,
        onWatching: () => (isWatching = true),
        onChange: (isShuttingDown) => void signals.push(isShuttingDown),
      });
      await eventually('the node is subscribed', () => isWatching, LIMIT_MS);
      command('announce true');
      await eventually('the shutdown is reported', () => signals.length === 1, LIMIT_MS);
      command('announce false');
      await eventually('the cancellation is reported', () => signals.length === 2, LIMIT_MS);
      expect(signals).toEqual([true, false]);
      controller.abort();
      await watch;
    },
    LIMIT_MS,
  );

  test(
    'notices that the bus is gone',
    async () => {
      await startLogind(5);
      let isWatching = false;
      const watch = logind().watchShutdown({
        signal: controller.signal,
        onWatching: () => (isWatching = true),
        onChange: () => {},
      });
      const end = watch.catch(() => 'ended');
      await eventually('the node is subscribed', () => isWatching, LIMIT_MS);
      await stop(bus);
      expect(await end).toBe('ended');
    },
    LIMIT_MS,
  );

  test(
    'reports in one sentence that there is no bus',
    async () => {
      await stop(bus);
      await rm(join(directory, 'bus'), { force: true });
      const read = logind().readInhibitDelay({ signal: controller.signal });
      await expect(read).rejects.toThrow('Failed to connect to bus: No such file or directory');
    },
    LIMIT_MS,
  );
});
