/** `statelet top` on its own terminal, with an agent that this process serves. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { top } from '../../../../cli/commands/top/top.ts';
import { type AgentSocket, serveSocket } from '../../../../socket/socket.ts';
import { socketPath } from '../../../../socket/socketPath.ts';
import { eventually } from '../../../e2e/support/eventually.ts';
import { type FakeAgent, fakeAgent } from '../../../fakes/agent.ts';
import { backOff, NOW, podView, running } from '../../../kubernetes/views.ts';
import { root } from '../../../support/root.ts';
import { seenOn } from '../../support/terminal.ts';

jest.setTimeout(60_000);

const program = `${join(root, 'node_modules/.bin/node')} ${join(root, 'cli/main.ts')} top`;

const web = podView({
  main: { app: running({ path: 'pod/w/container/app', state: 'running.steady', tags: ['steady'] }) },
  meta: { name: 'web-host', uid: 'w' },
  view: { path: 'pod/w' },
});
const crash = podView({
  main: { job: backOff(1, { path: 'pod/c/container/job', state: 'ended.backingOff', tags: ['retrying'] }) },
  meta: { name: 'crash-host', uid: 'c' },
  view: { path: 'pod/c' },
});
const latestLog = { file: '/var/log/job.log', lines: ['panic: no database'] };

let rootDir: string;
let agent: FakeAgent;
let socket: AgentSocket;
let shell: ChildProcess | undefined;
let out = '';

const serve = async () => {
  socket = await serveSocket({ path: socketPath(rootDir), agent });
};

beforeEach(async () => {
  rootDir = await mkdtemp(join(tmpdir(), 'statelet-top-'));
  agent = fakeAgent({ now: NOW, views: [web, crash], latestLog });
  await serve();
  out = '';
});

afterEach(async () => {
  shell?.kill('SIGKILL');
  shell = undefined;
  await socket.close();
  await rm(rootDir, { recursive: true, force: true });
});

/** Runs the program on its own terminal, in a shell that prints the terminal settings afterwards. */
function onTerminal({ env = {}, size = 'cols 80 rows 24' } = {}): void {
  const words = `stty ${size}; set -m; ${program} --root-dir ${rootDir}; echo "code $?"; stty -a; echo ALL-OVER`;
  const terminal = spawn('script', ['-qfec', `sh -c '${words}'`, '/dev/null'], {
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', NO_COLOR: '1', ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  shell = terminal;
}

const press = (keys: string) => void shell?.stdin?.write(keys);
const screen = () => seenOn(out).other?.join('\n') ?? '';
const isSeen = (pattern: RegExp, what: string) => eventually(what, () => pattern.test(screen()));
const isLeft = () => eventually('the terminal is given back', () => out.includes('ALL-OVER'));

/** Expects that the terminal echoes, and shows its cursor and its normal screen again. */
function expectGivenBack(): void {
  const { other, cursorShown, wraps } = seenOn(out);
  expect({ other, cursorShown, wraps }).toEqual({ other: undefined, cursorShown: true, wraps: true });
  expect(out).toMatch(/ echo /);
  expect(out).toMatch(/ icanon /);
}

test('keys move through the tree, expand it, and show the history of an actor, and q quits', async () => {
  onTerminal();
  await isSeen(/>▸ ↻ crash .*CrashLoopBackOff/, 'the worst pod is selected');
  press('\x1b[C');
  await isSeen(/>▾ ● crash.*\n +↻ job/, 'it is open');
  press('j\r');
  await isSeen(
    /container job of default\/crash-host[\s\S]*container job has terminated[\s\S]*panic: no database/,
    'its story',
  );
  agent.show(
    podView({
      main: { app: running({ path: 'pod/n/container/app', tags: ['steady'] }) },
      meta: { name: 'new-host', uid: 'n' },
    }),
  );
  await isSeen(/ ● new /, 'a new pod');
  press('/is:retrying\r');
  await eventually('the others are hidden', () => !/ web /.test(screen()) && />.*↻ job/.test(screen()));
  press('q');
  await isLeft();
  expect(out).toContain('code 0');
  expectGivenBack();
});

test('a lost connection is reported and reestablished, and Ctrl-C quits', async () => {
  onTerminal({ size: 'cols 40 rows 12' });
  await isSeen(/↻ crash/, 'the tree');
  await socket.close();
  await isSeen(/Connection lost \d+s ago, retrying in/, 'that it is lost');
  await serve();
  await eventually('the tree again', () => !screen().includes('Connection lost') && screen().includes('↻ crash'));
  press('\x03');
  await isLeft();
  expectGivenBack();
});

test('a terminal that cannot be drawn on gets plain lines, and the terminating signal is reported', async () => {
  onTerminal({ env: { TERM: 'dumb' } });
  await eventually('the lines', () => /↻ job/.test(out));
  expect(out).not.toContain('\x1b[?1049h');
  press('\x03');
  await isLeft();
  expect(out).toContain('code 0');
});

test('without a terminal everything is printed once', async () => {
  let text = '';
  const output = {
    write: (more: string) => {
      text += more;
    },
  };
  await top(['is:retrying'], { rootDir }, { output });
  expect(text.split('\n').slice(1)).toEqual([
    expect.stringMatching(/^ ▾ ● crash +pod +0\/1 +2m10s$/),
    expect.stringMatching(/^ +↻ job +container +CrashLoopBackOff +60s$/),
    '',
  ]);
  text = '';
  await top([], { rootDir, namespace: 'none' }, { output });
  expect(text).toContain('the filter hides all');
  await expect(top(['is:x'], { rootDir }, { output })).rejects.toThrow('is:x: expected one of');
});
