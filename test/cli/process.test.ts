import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { root } from '../support/root.ts';

const node = join(root, 'node_modules', '.bin', 'node');

interface Process {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  out(): string;
  err(): string;
  /** Resolves once stdout or stderr contains the text. */
  says(text: string): Promise<void>;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
}

let directory: string;
let processes: Process[] = [];
/** Cleanup of what else a test has started. */
const afterEachTest: (() => unknown)[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-cli-'));
});

afterEach(async () => {
  for (const { child } of processes) child.kill('SIGKILL');
  await Promise.all(processes.map(({ ended }) => ended));
  processes = [];
  for (const end of afterEachTest.splice(0)) end();
  await rm(directory, { recursive: true });
});

function start(script: string, ...args: string[]): Process {
  const child = spawn(node, [join(root, script), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const texts = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.err += text;
  });
  const ended = once(child, 'close').then(([code]): number | null => code);
  const says = async (text: string) => {
    while (!`${texts.out}${texts.err}`.includes(text)) {
      if (child.exitCode !== null) throw new Error(`ended without saying "${text}": ${texts.out}${texts.err}`);
      await pause(10);
    }
  };
  const started = { child, out: () => texts.out, err: () => texts.err, says, ended };
  processes.push(started);
  return started;
}

const nodeProcess = (command: 'run' | 'up', ...modes: string[]) =>
  start('test/cli/nodeProcess.ts', command, directory, ...modes);

async function statelet(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const process = start('cli/main.ts', ...args);
  const code = await process.ended;
  return { code, out: process.out(), err: process.err() };
}

describe('a command line error is one message with exit code 1', () => {
  test.each([
    ['run --max-pod 5', "statelet: unknown option '--max-pod'; did you mean --max-pods?\n"],
    ['up --max-pods many', 'statelet: --max-pods: expected a whole number of at least 0, got "many"\n'],
    ['rnu', "statelet: unknown command 'rnu'; did you mean run?\n"],
    ['watch', "statelet: unknown command 'watch'\n"],
    ['get nodse', 'statelet: nodse: unknown kind of resource; did you mean nodes?\n'],
    ['explain pood/web', 'statelet: pood: unknown kind of resource; did you mean pod?\n'],
    ['run --config /nowhere.yaml', 'statelet: --config: /nowhere.yaml: no such file\n'],
    ['run --config /tmp', 'statelet: --config: /tmp: a directory, not a file\n'],
    ['get pods --root-dir /nowhere', /^statelet: no agent is running at \/nowhere\/statelet\.sock; /],
  ])('%s', async (args, message) => {
    const { code, out, err } = await statelet(...args.split(' '));
    expect({ code, out }).toEqual({ code: 1, out: '' });
    if (typeof message === 'string') expect(err).toBe(message);
    else expect(err).toMatch(message);
    expect(err.split('\n')).toHaveLength(2);
  });

  test('--help and --version are not errors', async () => {
    expect(await statelet('up', '--help')).toMatchObject({
      code: 0,
      out: expect.stringContaining('--pod-manifest-path'),
    });
    expect(await statelet('--version')).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});

test.each(['run', 'up'] as const)(
  '%s exits with code 1 when the agent fails, and leaves the pods running',
  async (command) => {
    const node = nodeProcess(command, 'fails');
    expect(await node.ended).toBe(1);
    expect(node.err()).toMatch(/^the agent has failed\n$/m);
    expect(node.out()).toContain('agent stopped');
    expect(node.out()).not.toContain('draining');
    // `up` releases and stops the runtime, but its containers continue to run.
    if (command === 'up') expect(node.out()).toMatch(/runtime let go[\s\S]*runtime stopped/);
  },
);

test('run --runonce reports each pod and leaves it running, and requires a source', async () => {
  const node = nodeProcess('run', 'once');
  expect(await node.ended).toBe(0);
  expect(node.out()).toContain('pod default/web-host: Running\n');
  expect(node.out()).toContain('agent stopped');
  expect(node.out()).not.toContain('draining');
  const refused = await statelet('run', '--runonce', '--root-dir', directory);
  expect(refused).toMatchObject({
    code: 1,
    err: 'statelet: --runonce needs pods to run: set --pod-manifest-path or --manifest-url\n',
  });
});

/** Returns the claim of an agent that is a zombie: it has exited, but its parent has not reaped it. */
async function zombie(): Promise<string> {
  const parent = spawn('sh', ['-c', 'sleep 1000 & echo $!; exec sleep 1000'], { stdio: ['ignore', 'pipe', 'ignore'] });
  afterEachTest.push(() => parent.kill('SIGKILL'));
  const [line]: unknown[] = await once(parent.stdout.setEncoding('utf8'), 'data');
  const pid = Number(line);
  const fields = async () => (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  // The parent is a shell until then, and a shell could reap the process.
  while ((await readFile(`/proc/${parent.pid}/comm`, 'utf8')) !== 'sleep\n') await pause(5);
  const start = (await fields())[19];
  process.kill(pid, 'SIGKILL');
  while ((await fields())[0] !== 'Z') await pause(5);
  return `${pid}-${start}`;
}

describe('run', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('stops the agent on %s and leaves the pods running', async (signal) => {
    const daemon = nodeProcess('run');
    await daemon.says('the node agent is running');
    daemon.child.kill(signal);
    expect(await daemon.ended).toBe(0);
    expect(daemon.out()).toContain('agent stopped');
    expect(daemon.out()).not.toContain('draining');
    expect(daemon.err()).toMatch(/^I\d{4} \S+ +\d+ run\.ts:\d+\] "the node agent has stopped"$/m);
    expect(await readdir(join(directory, 'agents'))).toEqual([]);
  });

  test('starts although a killed agent has not been reaped yet', async () => {
    const claim = await zombie();
    await mkdir(join(directory, 'agents'));
    await writeFile(join(directory, 'agents', claim), '');
    const daemon = nodeProcess('run');
    await daemon.says('the node agent is running');
    expect(await readdir(join(directory, 'agents'))).toEqual([expect.stringMatching(`^${daemon.child.pid}-`)]);
  });

  test('rejects a second agent over the same directory, and the first continues', async () => {
    const first = nodeProcess('run');
    await first.says('the node agent is running');
    const second = nodeProcess('run');
    expect(await second.ended).toBe(1);
    expect(second.err()).toBe(
      `another agent (process ${first.child.pid}) is already running on ${directory}: stop it first, or use another root directory\n`,
    );
    expect(second.out()).toBe('');
    expect((await statelet('get', 'pods', '--root-dir', directory)).code).toBe(0);
  });

  test('starts after an agent that was killed', async () => {
    const first = nodeProcess('run');
    await first.says('the node agent is running');
    first.child.kill('SIGKILL');
    await first.ended;
    const second = nodeProcess('run');
    await second.says('the node agent is running');
    expect((await readdir(join(directory, 'agents'))).length).toBe(1);
  });

  test('reports fields without effect once, and writes a human-readable text log', async () => {
    const file = join(directory, 'kubelet.yaml');
    const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
    await writeFile(file, `${head}volumePluginDir: /flex\nlogging: {format: text}\n`);
    const daemon = nodeProcess('run', file);
    await daemon.says('the node agent is running');
    const warnings = daemon
      .err()
      .split('\n')
      .filter((line) => line.includes('ignored in this version'));
    expect(warnings).toEqual([expect.stringMatching(/^W\d{4} .*kubelet\.yaml: accepted, .*: volumePluginDir"$/)]);
  });
});

/** Returns the message of a log line, or any other line unchanged. */
const messageOf = (line: string): string => /^[IWEF]\d{4} .*?\] "(.*?)"/.exec(line)?.[1] ?? line;

describe('up', () => {
  test.each(['SIGINT', 'SIGHUP'] as const)(
    'terminates pods, agent and runtime in this order on %s, and releases its claim',
    async (signal) => {
      const node = nodeProcess('up');
      await node.says('node ready: 1/1 pods running');
      expect((await stat(join(directory, 'kubelet', 'statelet.sock'))).mode & 0o777).toBe(0o600);
      node.child.kill(signal);
      expect(await node.ended).toBe(0);
      const said = node.out().split('\n').map(messageOf);
      expect(said.slice(0, 2)).toEqual([
        `starting a runtime in ${directory}/containerd`,
        'started over unix:///own.sock',
      ]);
      expect(said.slice(said.findIndex((line) => line.startsWith(`${signal}:`)) + 1)).toEqual([
        'draining',
        'agent stopped',
        'runtime stopped',
        'statelet has stopped, and so has its containerd',
        '',
      ]);
      expect(await readdir(join(directory, 'kubelet', 'agents'))).toEqual([]);
    },
  );

  test('treats signals within 2 s of the first as one, and stops at once on a later one', async () => {
    const node = nodeProcess('up', 'slowDrain');
    await node.says('node ready');
    node.child.kill('SIGINT');
    await node.says('draining');
    node.child.kill('SIGINT');
    node.child.kill('SIGTERM');
    await pause(2100);
    expect(node.child.exitCode).toBeNull();
    node.child.kill('SIGTERM');
    expect(await node.ended).toBe(128 + 15);
    expect(node.out()).not.toContain('runtime stopped');
  });

  test('without root reports that in one sentence, and labels every line and log as simulated', async () => {
    const node = nodeProcess('up', 'withoutRoot');
    await node.says('node ready: 1/1 pods running (simulated)');
    expect(messageOf(node.out().split('\n')[0] ?? '')).toBe(
      'containers need root: the pods run on a simulated runtime, without real containers.',
    );
    expect(node.out()).not.toContain('starting a runtime');
    const table = await statelet('get', 'pods', '--state-dir', directory);
    expect(table.out.split('\n')[0]).toBe('SIMULATED runtime: no real containers run');
    node.child.kill('SIGTERM');
    expect(await node.ended).toBe(0);
    expect(node.out()).toContain('"[simulated] statelet has stopped"\n');
  });
});

describe('a query to the running agent', () => {
  beforeEach(async () => {
    await nodeProcess('run').says('the node agent is running');
  });

  const get = async (...args: string[]) => (await statelet(...args, '--root-dir', directory)).out;

  test('returns a table of pods, wide or not', async () => {
    expect(await get('get', 'pods')).toMatch(
      /^NAME {7}READY {3}STATUS {4}RESTARTS {3}AGE\nweb-host {3}1\/1 {5}Running {3}0/,
    );
    expect(await get('get', 'pods', '-A', '-o', 'wide')).toMatch(
      /^NAMESPACE {3}NAME .* IP .*\ndefault {5}web-host .*10\.1\.0\.2/,
    );
  });

  test('returns JSON, YAML or names', async () => {
    expect(JSON.parse(await get('get', 'pods', '-o', 'json'))).toMatchObject({
      kind: 'PodList',
      items: [{ kind: 'Pod', metadata: { name: 'web-host' }, status: { phase: 'Running', qosClass: 'BestEffort' } }],
    });
    expect(await get('get', 'pods', '-o', 'yaml')).toMatch(/^apiVersion: v1\nkind: PodList\n/);
    expect(await get('get', 'pods', '-o', 'name')).toBe('pod/web-host\n');
    expect(JSON.parse(await get('get', 'pod', 'web-host', '-o', 'json'))).toMatchObject({ kind: 'Pod' });
  });

  test('selects one pod by its full name or its manifest name', async () => {
    expect(await get('get', 'pods', 'web-host', '-o', 'name')).toBe('pod/web-host\n');
    expect(await get('get', 'pods', 'web', '-o', 'name')).toBe('pod/web-host\n');
  });

  test('returns only the requested pods', async () => {
    expect(await statelet('get', 'pods', 'none', '--root-dir', directory)).toEqual({
      code: 1,
      out: '',
      err: 'statelet: pods "none" not found\n',
    });
    expect(await statelet('get', 'pods', '-n', 'other', '--root-dir', directory)).toEqual({
      code: 0,
      out: '',
      err: 'No resources found\n',
    });
  });

  test('returns events as a table, wide or not, as JSON or names, with filters', async () => {
    const cells = (text: string) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ {3,}/));
    expect(cells(await get('get', 'events')).map(([, ...rest]) => rest)).toEqual([
      ['TYPE', 'REASON', 'OBJECT', 'MESSAGE'],
      ['Normal', 'Starting', 'node/host', 'Starting kubelet.'],
      ['Normal', 'Started', 'pod/web-host', 'Container started'],
      ['Warning', 'FailedMount', 'pod/web-host', 'no such disk'],
    ]);
    expect(await get('get', 'events', '-A', '-o', 'wide')).toMatch(
      /^NAMESPACE .* SUBOBJECT .* COUNT .* NAME\ndefault /,
    );
    expect(JSON.parse(await get('get', 'events', '-o', 'json'))).toMatchObject({ kind: 'EventList' });
    expect(await get('get', 'ev', '-o', 'name')).toMatch(/^event\/host\.[0-9a-f]+\nevent\/web-host\./);
    expect(cells(await get('get', 'events', '--for', 'pod/web', '--types', 'normal')).slice(1)).toEqual([
      [expect.any(String), 'Normal', 'Started', 'pod/web-host', 'Container started'],
    ]);
  });

  test('is rejected in one sentence if it is invalid', async () => {
    const asked = async (...args: string[]) => (await statelet(...args, '--root-dir', directory)).err;
    expect(await asked('get', 'events', '--types', 'Warnin')).toMatch(
      /^statelet: --types: Warnin unknown event type.*Warning/,
    );
    expect(await asked('get', 'events', '--for', 'node/host')).toMatch(/^statelet: node: unknown kind of resource/);
    expect(await asked('get', 'pods', '--types', 'Normal')).toBe('statelet: --types: supported only for events\n');
    expect(await asked('get', 'events', 'none')).toBe('statelet: events "none" not found\n');
    expect(await asked('describe', 'pod', 'none')).toBe('statelet: pods "none" not found\n');
    expect(await asked('get', 'events', '--for', 'pod/none')).toBe('No events found for pod/none\n');
  });

  test('describes a pod with its events', async () => {
    const text = await get('describe', 'pod/web-host', '-n', 'default');
    expect(text).toMatch(/^Name: +web-host\nNamespace: +default\n/);
    expect(text).toMatch(/\nEvents:\n {2}Type +Reason +Age +From +Message\n {2}---- /);
    expect(text).toContain('spec.containers{web}: Container started');
    expect(await get('describe', 'pod', 'web')).toContain('Warning  FailedMount');
  });

  test('with --watch stops with the agent', async () => {
    const watcher = start('cli/main.ts', 'get', 'pods', '--watch', '--root-dir', directory);
    await watcher.says('web-host');
    processes[0]?.child.kill('SIGTERM');
    expect(await watcher.ended).toBe(0);
    expect(watcher.out().trim().split('\n')).toHaveLength(2);
  });

  test('with --watch stops with one sentence when the agent is killed', async () => {
    const watcher = start('cli/main.ts', 'get', 'pods', '--watch', '--root-dir', directory);
    await watcher.says('web-host');
    processes[0]?.child.kill('SIGKILL');
    expect(await watcher.ended).toBe(1);
    expect(watcher.err()).toBe(
      `statelet: the agent at ${directory}/statelet.sock exited before its response was complete\n`,
    );
  });

  test('causes no error when the reader closes early', async () => {
    const watcher = start('cli/main.ts', 'get', 'pods', '--watch', '-o', 'name', '--root-dir', directory);
    await watcher.says('web-host');
    watcher.child.stdout.destroy();
    processes[0]?.child.kill('SIGTERM');
    expect(await watcher.ended).toBe(0);
    expect(watcher.err()).toBe('');
  });

  test('explains a pod by any of its names', async () => {
    const text = await get('explain', 'pod/web-host');
    expect(text).toMatch(/^default\/web-host {2}Running/);
    expect(await get('explain', 'pod', 'web')).toMatch(/^default\/web-host {2}Running/);
    expect(await get('explain', 'web', '-n', 'default')).toMatch(/^default\/web-host {2}Running/);
    expect(await statelet('explain', 'web', '-n', 'other', '--root-dir', directory)).toMatchObject({
      code: 1,
      err: 'statelet: pods "web" not found; did you mean the one in namespace default?\n',
    });
    expect(JSON.parse(await get('explain', 'web', '-o', 'json'))).toMatchObject({ name: 'web-host' });
    expect(await get('explain', 'node')).toContain('node host is running 0 pods');
    expect(JSON.parse(await get('explain', 'node/host', '-o', 'json'))).toMatchObject({ node: { kind: 'node' } });
  });
});

test('the list of pods is followed by every rejected manifest, and by each warning with its pod', async () => {
  await nodeProcess('run', 'odd').says('the node agent is running');
  const at = (...args: string[]) => statelet(...args, '--root-dir', directory);
  const { out, err } = await at('get', 'pods');
  expect(out).toContain('web-host');
  const sentences = Array.from(
    { length: 9 },
    (_, i) => `  /pods/${i}.yaml: spec.a: wrong (not used until the file changes)`,
  );
  expect(err.split('\n')).toEqual(['9 manifests were rejected:', ...sentences, '']);
  const { items } = JSON.parse((await at('get', 'pods', '-o', 'json')).out);
  expect(items).toHaveLength(1);
  expect((await at('get', 'pod', '3')).err).toBe(
    'statelet: pods "3" not found; its manifest was rejected: /pods/3.yaml: spec.a: wrong (not used until the file changes)\n',
  );
  const odd = /^Manifest Warnings: +\/pods\/web\.yaml: spec\.imge: unknown field$/m;
  expect((await at('describe', 'pod', 'web')).out).toMatch(odd);
});
