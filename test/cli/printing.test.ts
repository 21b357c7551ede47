/** Output of commands that cannot be written. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { SIMULATED_ENDPOINT } from '../../actors/store/leftOnDisk.ts';
import { createLayout } from '../../host/pods/layout.ts';
import { createMarkedDirectory } from '../../host/pods/podMark.ts';
import { root } from '../support/root.ts';

jest.setTimeout(60_000);

const node = join(root, 'node_modules', '.bin', 'node');

let directory: string;
let agent: ChildProcess;

/** More lines than the buffer of a pipe can store. */
const LOG_LINES = 20_000;
const lineOfLog = (at: number) => `line ${at} ${'x'.repeat(50)}\n`;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'statelet-printing-'));
  const started = spawn(node, [join(root, 'test/cli/nodeProcess.ts'), 'run', directory], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  agent = started;
  const logs = join(directory, 'logs', 'default_web-host_u-1', 'web');
  mkdirSync(logs, { recursive: true });
  const log = Array.from({ length: LOG_LINES }, (_, at) => `2026-05-04T12:00:00Z stdout F ${lineOfLog(at)}`);
  writeFileSync(join(logs, '0.log'), log.join(''));
  let said = '';
  for await (const text of started.stderr.setEncoding('utf8')) {
    said += String(text);
    if (said.includes('the node agent is running')) break;
  }
});

afterAll(async () => {
  const ended = once(agent, 'exit');
  agent.kill('SIGKILL');
  await ended;
  rmSync(directory, { recursive: true });
});

const onFullDisk = (...args: string[]) => {
  const full = openSync('/dev/full', 'w');
  const { status: code, stderr: err } = spawnSync(node, [join(root, 'cli/main.ts'), ...args], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  return { code, err };
};
const lost = { code: 1, err: 'statelet: cannot write to standard output: no space left on device\n' };

/** Runs a command whose output goes to a process that reads nothing. */
const unread = (...args: string[]) => {
  const { status: code, stderr: err } = spawnSync(
    'bash',
    ['-o', 'pipefail', '-c', '"$@" | true', 'bash', node, join(root, 'cli/main.ts'), ...args],
    { encoding: 'utf8' },
  );
  return { code, err };
};

describe('output that cannot be written is reported in one sentence with exit code 1', () => {
  test.each(['charts', 'version --client', 'completion bash', '__complete get', '--help', '--version', 'run --help'])(
    '%s',
    (args) => expect(onFullDisk(...args.split(' '))).toEqual(lost),
  );

  test.each([
    'get pods',
    'get pods -o yaml',
    'get nodes',
    'get events -A',
    'describe pod web',
    'explain pod/web',
    'logs web',
  ])('%s', (args) => {
    expect(onFullDisk(...args.split(' '), '--root-dir', directory)).toEqual(lost);
  });

  test('a reader that closes early causes no error', () => {
    const script = `"$@" | head -n 1`;
    const { stdout, stderr } = spawnSync(
      'bash',
      ['-o', 'pipefail', '-c', script, 'bash', node, join(root, 'cli/main.ts'), 'charts'],
      { encoding: 'utf8' },
    );
    expect({ lines: stdout.split('\n').length - 1, stderr }).toEqual({ lines: 1, stderr: '' });
  });

  test('a log is written completely to a slow reader, and a reader that closes early causes no error', () => {
    const command = [node, join(root, 'cli/main.ts'), 'logs', 'web', '--root-dir', directory];
    const piped = (script: string) => spawnSync('bash', ['-o', 'pipefail', '-c', script, 'bash', ...command]);
    const all = Array.from({ length: LOG_LINES }, (_, at) => lineOfLog(at)).join('');
    const slow = piped('"$@" | { sleep 0.5; sha256sum; }');
    expect(slow.stdout.toString()).toBe(`${createHash('sha256').update(all).digest('hex')}  -\n`);
    const enough = piped('"$@" | head -n 1');
    expect([enough.stdout.toString(), enough.stderr.toString()]).toEqual([lineOfLog(0), '']);
  });

  test('charts reports an output path that is not a directory', () => {
    const { status, stderr } = spawnSync(node, [join(root, 'cli/main.ts'), 'charts', '-o', '/dev/null'], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 1, stderr: 'statelet: --output: /dev/null: expected a directory\n' });
  });
});

describe('`statelet down`', () => {
  let state: string;
  const pods = () => readdirSync(join(state, 'kubelet', 'pods'));

  beforeEach(async () => {
    state = mkdtempSync(join(tmpdir(), 'statelet-unread-'));
    const rootDirectory = join(state, 'kubelet');
    mkdirSync(join(rootDirectory, 'pods'), { recursive: true });
    const layout = createLayout({ rootDir: rootDirectory, podLogsDir: join(state, 'logs') });
    const maker = { root: rootDirectory, node: 'node', runtime: SIMULATED_ENDPOINT };
    for (const name of ['one', 'two'])
      await createMarkedDirectory(layout.podDir(name), { layout, maker, pod: { namespace: 'default', name } }, 0o750);
  });
  afterEach(() => rmSync(state, { recursive: true }));

  test('removes everything even if its reader closes early', () => {
    expect(unread('down', '--state-dir', state)).toEqual({ code: 0, err: '' });
    expect(pods()).toEqual([]);
  });

  test('removes everything even if none of its output can be written', () => {
    expect(onFullDisk('down', '--state-dir', state)).toEqual(lost);
    expect(pods()).toEqual([]);
  });
});
