/** What commands print, where it cannot be written. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { SIMULATED } from '../../actors/store/leftOnDisk.ts';
import { createLayout } from '../../host/pods/layout.ts';
import { makeMarked } from '../../host/pods/podMark.ts';

jest.setTimeout(60_000);

const root = join(import.meta.dirname, '..', '..');
const node = join(root, 'node_modules', '.bin', 'node');

let directory: string;
let agent: ChildProcess;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'statelet-printing-'));
  const started = spawn(node, [join(root, 'test/cli/nodeProcess.ts'), 'run', directory], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  agent = started;
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

/** Runs a command for a reader that reads nothing. */
const unread = (...args: string[]) => {
  const { status: code, stderr: err } = spawnSync(
    'bash',
    ['-o', 'pipefail', '-c', '"$@" | true', 'bash', node, join(root, 'cli/main.ts'), ...args],
    { encoding: 'utf8' },
  );
  return { code, err };
};

describe('what cannot be printed is said in one sentence, with exit code 1', () => {
  test.each(['charts', 'version --client', 'completion bash', '__complete get', '--help', '--version', 'run --help'])(
    '%s',
    (args) => expect(onFullDisk(...args.split(' '))).toEqual(lost),
  );

  test.each(['get pods', 'get pods -o yaml', 'get nodes', 'get events -A', 'describe pod web', 'explain pod/web'])(
    '%s',
    (args) => {
      expect(onFullDisk(...args.split(' '), '--root-dir', directory)).toEqual(lost);
    },
  );

  test('a reader that has enough is no mistake', () => {
    const script = `"$@" | head -n 1`;
    const { stdout, stderr } = spawnSync(
      'bash',
      ['-o', 'pipefail', '-c', script, 'bash', node, join(root, 'cli/main.ts'), 'charts'],
      { encoding: 'utf8' },
    );
    expect({ lines: stdout.split('\n').length - 1, stderr }).toEqual({ lines: 1, stderr: '' });
  });

  test('charts into what is no directory', () => {
    const { status, stderr } = spawnSync(node, [join(root, 'cli/main.ts'), 'charts', '-o', '/dev/null'], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 1, stderr: 'statelet: --output: /dev/null: expected a directory\n' });
  });
});

describe('`down` ends all of it', () => {
  let state: string;
  const pods = () => readdirSync(join(state, 'kubelet', 'pods'));

  beforeEach(async () => {
    state = mkdtempSync(join(tmpdir(), 'statelet-unread-'));
    const rootDirectory = join(state, 'kubelet');
    mkdirSync(join(rootDirectory, 'pods'), { recursive: true });
    const layout = createLayout({ rootDir: rootDirectory, podLogsDir: join(state, 'logs') });
    const maker = { root: rootDirectory, node: 'node', runtime: SIMULATED };
    for (const name of ['one', 'two'])
      await makeMarked(layout.podDir(name), { layout, maker, pod: { namespace: 'default', name } }, 0o750);
  });
  afterEach(() => rmSync(state, { recursive: true }));

  test('also when its reader has enough', () => {
    expect(unread('down', '--state-dir', state)).toEqual({ code: 0, err: '' });
    expect(pods()).toEqual([]);
  });

  test('also when nothing that it says can be written', () => {
    expect(onFullDisk('down', '--state-dir', state)).toEqual(lost);
    expect(pods()).toEqual([]);
  });
});
