import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { eventually } from '../../e2e/support/eventually.ts';
import { ESC } from '../../support/escape.ts';
import { root } from '../../support/root.ts';
import { seenOn } from '../support/terminal.ts';

jest.setTimeout(60_000);

const program = `${join(root, 'node_modules/.bin/node')} ${join(root, 'test/cli/support/upOnTerminal.ts')}`;

let directory: string;
let shell: ChildProcess | undefined;
let out = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-terminal-'));
  await mkdir(join(directory, 'pods'));
  out = '';
});

afterEach(async () => {
  for (const pid of await agents()) killIfThere(pid);
  shell?.kill('SIGKILL');
  shell = undefined;
  await rm(directory, { recursive: true, force: true });
});

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process had already exited, and was killed before it could release its claim.
  }
}

/** A pod whose process ignores SIGTERM, so that it runs until its grace period has passed. */
const stubborn = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'stubborn' },
  spec: {
    terminationGracePeriodSeconds: 20,
    containers: [{ name: 'app', image: 'app:1', command: ['sh', '-c', "trap '' TERM; sleep 1000"] }],
  },
};

/** Runs the program on its own terminal, in a shell that prints the terminal settings afterwards. */
function onTerminal({ env = {}, size = 'cols 80 rows 24', afterwards: next = '' } = {}): void {
  const words = `stty ${size}; set -m; ${program} ${directory} ${directory}/pods; echo "code $?"; stty -a; echo ALL-OVER; ${next}`;
  const terminal = spawn('script', ['-qfec', `sh -c '${words}'`, '/dev/null'], {
    // Pass no other variables, because Node.js derives the capabilities of the terminal from some of them (`CI`,
    // `COLORTERM`).
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', NO_COLOR: '1', ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  shell = terminal;
}

const type = (keys: string) => shell?.stdin?.write(keys);

const screen = () => (seenOn(out).other ?? []).join('\n');

const shows = (text: string | RegExp) =>
  eventually(`the terminal shows ${text}`, () => screen().search(text) >= 0 || undefined);

const says = (text: string) => eventually(`the terminal says ${text}`, () => out.includes(text) || undefined);

async function agents(): Promise<number[]> {
  const claims = await readdir(join(directory, 'kubelet', 'agents')).catch(() => []);
  return claims.map((claim) => Number(claim.split('-')[0]));
}

async function send(signal: NodeJS.Signals): Promise<void> {
  for (const pid of await agents()) process.kill(pid, signal);
}

/** Returns the state of the terminal after the program has exited. */
async function afterwards() {
  await says('ALL-OVER');
  const { other, cursorShown, wraps } = seenOn(out);
  const settings = out.slice(out.lastIndexOf('code '));
  return {
    isGivenBack: other === undefined && cursorShown && wraps,
    isSane: ['icanon', 'echo', 'isig'].every((mode) => settings.split(/\s+/).includes(mode)),
    code: Number(/code (\d+)/.exec(settings)?.[1]),
  };
}

const sane = { isGivenBack: true, isSane: true };

async function withStubbornPod(): Promise<void> {
  await writeFile(join(directory, 'pods', 'stubborn.yaml'), JSON.stringify(stubborn));
  onTerminal();
  await shows(/stubborn-node +Running/);
}

describe('`statelet up` on a terminal', () => {
  test('reads keys one by one: help, filter and back', async () => {
    await withStubbornPod();
    type('?');
    await shows('scroll by a line');
    type('q');
    await shows(/stubborn-node +Running/);
    type('/zz\r');
    await shows('filter "zz"');
    expect(screen()).not.toContain('stubborn-node');
    type('\x1b');
    await shows('stubborn-node');
  });

  test('terminates gracefully on Ctrl-C, and restores the terminal', async () => {
    onTerminal();
    await shows('node node running');
    type('\x03');
    expect(await afterwards()).toEqual({ ...sane, code: 0 });
    expect(out).toContain('statelet has stopped');
  });

  test('stops at once on a later second Ctrl-C, and says what is still running and how to terminate it', async () => {
    await withStubbornPod();
    type('\x03');
    await shows('terminating all pods');
    await pause(2100);
    type('\x03');
    expect(await afterwards()).toEqual({ ...sane, code: 130 });
    expect(out).toContain('its pods and their containerd keep running');
    expect(out).toContain(`statelet down --state-dir ${directory}\r\n`);
  });

  test.each([
    ['SIGTERM', 0],
    ['SIGHUP', 0],
    ['SIGUSR2', 1],
    ['SIGALRM', 1],
    ['SIGQUIT', 131],
  ] as const)('restores the terminal on %s', async (signal, code) => {
    onTerminal();
    await shows('node node running');
    await send(signal);
    expect(await afterwards()).toMatchObject({ ...sane, code });
  });

  test('returns the terminal to the shell on Ctrl-Z, and the table comes back with the job', async () => {
    onTerminal({ afterwards: 'read x; fg' });
    await shows('node node running');
    const [pid = 0] = await agents();
    type('\x1a');
    expect(await afterwards()).toMatchObject(sane);
    await eventually('it is stopped', async () => (await readFile(`/proc/${pid}/stat`, 'utf8')).includes(') T '));
    type('\n');
    await shows('node node running');
    type('?');
    await shows('scroll by a line');
  });

  test('uses 80 columns on a terminal without a size', async () => {
    onTerminal({ size: 'cols 0 rows 0' });
    await shows('node node running');
    expect(Math.max(...(seenOn(out).other ?? []).map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  test('uses colors, unless NO_COLOR is set', async () => {
    onTerminal({ env: { NO_COLOR: '' } });
    await shows('node node running');
    expect(out).toContain('\x1b[1m');
    type('\x03');
    await says('ALL-OVER');
    out = '';
    onTerminal();
    await shows('node node running');
    expect(out).not.toMatch(new RegExp(`${ESC}\\[[\\d;]+m`));
  });

  test('prints plain lines without control sequences on a dumb terminal', async () => {
    onTerminal({ env: { TERM: 'dumb' } });
    await eventually('it runs', async () => (await agents()).length > 0 || undefined);
    await writeFile(join(directory, 'pods', 'stubborn.yaml'), JSON.stringify(stubborn));
    await says('pod/stubborn-node');
    expect(out).not.toContain('\x1b');
  });
});
