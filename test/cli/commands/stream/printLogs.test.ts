/** `statelet logs` and `statelet delete` over the socket of an agent, with logs on disk. */
import { appendFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { deletePod } from '../../../../cli/commands/run/deletePod.ts';
import type { LogsOptions } from '../../../../cli/commands/stream/logsRequest.ts';
import { printLogs } from '../../../../cli/commands/stream/printLogs.ts';
import type { NodeSummary, PodPaths } from '../../../../socket/agent.ts';
import { type AgentSocket, serveSocket } from '../../../../socket/socket.ts';
import { socketPath } from '../../../../socket/socketPath.ts';
import { eventually } from '../../../e2e/support/eventually.ts';
import { type FakeAgent, fakeAgent } from '../../../fakes/agent.ts';
import { line, lines } from '../../../host/logs/logFolder.ts';
import { backOff, exited, NOW, podView, running, type ShownPod, waiting } from '../../../kubernetes/views.ts';

let rootDir: string;
let agent: FakeAgent;
let socket: AgentSocket;

beforeEach(async () => {
  rootDir = await mkdtemp(join(tmpdir(), 'statelet-logs-'));
});

afterEach(async () => {
  await socket.close();
  await rm(rootDir, { recursive: true });
});

/** Serves an agent that has this pod. */
async function serve(
  parts: Parameters<typeof podView>[0],
  { node = {}, places = {} }: { node?: Partial<NodeSummary>; places?: Partial<PodPaths> } = {},
): Promise<ShownPod> {
  const { meta, ...rest } = parts;
  const view = podView({
    ...rest,
    meta: { name: 'web-host', uid: 'u', ...meta },
    spec: { nodeName: 'host', ...parts.spec },
  });
  const podLogs = join(rootDir, 'logs');
  agent = fakeAgent({ now: NOW, views: [view], node, podLogs, places });
  socket = await serveSocket({ path: socketPath(rootDir), agent });
  return view;
}

const folder = (container: string) => join(rootDir, 'logs', 'default_web-host_u', container);

async function logged(container: string, run: number, text: string): Promise<string> {
  await mkdir(folder(container), { recursive: true });
  const file = join(folder(container), `${run}.log`);
  await writeFile(file, text);
  return file;
}

/** Runs `logs`. Returns what it has written to stdout and stderr so far. */
function begin(words: string[], options: LogsOptions = {}, isTerminal = false) {
  const seen = { out: '', err: '' };
  const write = async (data: string | Uint8Array) => {
    seen.out += Buffer.from(data).toString();
  };
  const printNote = (text: string) => {
    seen.err += text;
  };
  const done = printLogs(words, { rootDir, ...options }, { isTerminal, write, printNote });
  return { seen, done };
}

async function printed(words: string[], options: LogsOptions = {}, isTerminal = false) {
  const { seen, done } = begin(words, options, isTerminal);
  return { isWhole: await done, ...seen };
}

const whole = (out: string, err = '') => ({ isWhole: true, out, err });

describe('logs', () => {
  test('prints the log of the only container or of the selected one', async () => {
    await serve({ init: { setup: exited(0) }, main: { app: running({ restartCount: 1 }), log: running() } });
    await logged('app', 0, lines('of the first run'));
    await logged('app', 1, lines('of the second run'));
    await logged('log', 0, lines('log'));
    await logged('setup', 0, lines('setup'));
    const defaulted = 'Defaulted container "app" out of: app, log, setup (init)\n';
    expect(await printed(['pod/web'])).toEqual(whole('of the second run\n', defaulted));
    expect(await printed(['web-host', 'log'])).toEqual(whole('log\n'));
    expect(await printed(['web'], { container: 'setup' })).toEqual(whole('setup\n'));
    expect(await printed(['u'], { container: 'log', prefix: true })).toEqual(whole('[pod/web-host/log] log\n'));
  });

  test('prints the logs of all containers in order, even if one of them has none', async () => {
    await serve({ init: { setup: exited(0) }, main: { app: waiting('ErrImagePull'), log: running() } });
    await logged('setup', 0, lines('one', 'two'));
    await logged('log', 0, lines('three'));
    expect(await printed(['web'], { allContainers: true, prefix: true, tail: '1' })).toEqual({
      isWhole: false,
      out: '[pod/web-host/setup] two\n[pod/web-host/log] three\n',
      err: expect.stringMatching(
        /^statelet: container "app" in pod "web-host" is waiting to start: image can't be pulled\n/,
      ),
    });
  });

  test('explains what a container without a log is waiting for', async () => {
    const message = 'secret "api" not found in /pods; the pod starts as soon as the Secret exists';
    const lastFailure = { reason: 'CreateContainerConfigError', message, at: NOW } as const;
    const waitingFor = 'another attempt to start it';
    await serve({
      main: { app: waiting('CreateContainerConfigError', { lastFailure, waitingFor, tags: ['retrying'] }) },
    });
    await expect(printed(['web'])).rejects.toThrow(
      'container "app" in pod "web-host" is waiting to start: CreateContainerConfigError\n' +
        `container app is waiting for another attempt to start it: CreateContainerConfigError: ${message}`,
    );
  });

  test('prints the previous run, even for a container in back-off', async () => {
    await serve({ main: { app: backOff(1, { restartCount: 2 }) } });
    await logged('app', 1, lines('before'));
    await logged('app', 2, lines('last'));
    expect(await printed(['web'])).toEqual(whole('last\n'));
    expect(await printed(['web'], { previous: true })).toEqual(whole('last\n'));
  });

  test('passes only colors as control sequences to a terminal, and the exact bytes elsewhere', async () => {
    await serve({ main: { app: running() } });
    await logged('app', 0, lines('\x1b[31mred\x1b[0m \x1b[2J'));
    expect((await printed(['web'])).out).toBe('\x1b[31mred\x1b[0m \x1b[2J\n');
    expect((await printed(['web'], {}, true)).out).toBe('\x1b[31mred\x1b[0m ^[[2J\n');
    await logged('app', 0, lines('\x1b[31mred'));
    expect((await printed(['web'], {}, true)).out).toBe('\x1b[31mred\n\x1b[0m');
  });

  test('reports errors with the messages of kubectl and the kubelet', async () => {
    await serve({ main: { app: waiting('ContainerCreating'), log: running() } });
    await expect(printed(['none'])).rejects.toThrow('pods "none" not found');
    await expect(printed(['web'], { namespace: 'shop' })).rejects.toThrow('pods "web" not found');
    await expect(printed(['web', 'x'])).rejects.toThrow('container x is not valid for pod web-host out of: app, log');
    await expect(printed(['web', 'app'])).rejects.toThrow('"app" in pod "web-host" is waiting to start: Container');
    await expect(printed(['web', 'log'], { previous: true })).rejects.toThrow('previous terminated container "log"');
    await expect(printed(['web', 'log'])).rejects.toThrow(`${folder('log')}/0.log does not exist`);
  });

  test('reports that a simulated runtime writes no logs', async () => {
    await serve({ main: { app: running() } }, { node: { simulated: true } });
    await expect(printed(['web'])).rejects.toThrow(/does not exist: a simulated runtime writes no logs$/);
  });

  test('selects between pods with the same name by namespace', async () => {
    await serve({ main: { app: running() } });
    await logged('app', 0, lines('mine'));
    agent.show(
      podView({
        main: { app: running() },
        meta: { name: 'web-host', uid: 'o', namespace: 'shop' },
        spec: { nodeName: 'host' },
      }),
    );
    await expect(printed(['web'])).rejects.toThrow(
      'ambiguous: default/web-host and shop/web-host: choose one with -n, --namespace',
    );
    expect(await printed(['web'], { namespace: 'default' })).toEqual(whole('mine\n'));
  });

  test('with --follow continues across a rotation, until the container has exited', async () => {
    const view = await serve({ main: { app: running() } });
    const file = await logged('app', 0, lines('one'));
    const { seen, done } = begin(['web'], { follow: true });
    await eventually('the first line is there', () => seen.out === 'one\n');
    await rename(file, `${file}.20260504-120010`);
    await writeFile(file, line(1, 'two'));
    await eventually('the second line is there', () => seen.out === 'one\ntwo\n');
    await appendFile(file, line(2, 'three'));
    agent.show({ ...view, containers: podView({ main: { app: exited(0) } }).containers });
    expect([await done, seen.out]).toEqual([true, 'one\ntwo\nthree\n']);
  });

  test('with --follow interleaves all containers line by line, until the pod is removed', async () => {
    const view = await serve({ main: { app: running(), log: running() } });
    const [app, log] = [await logged('app', 0, ''), await logged('log', 0, '')];
    const { seen, done } = begin(['web'], { follow: true, allContainers: true, prefix: true });
    await appendFile(app, line(0, 'begins ', { tags: 'P' }));
    await appendFile(log, line(0, 'between'));
    await eventually('the other line is there', () => seen.out === '[pod/web-host/log] between\n');
    await appendFile(app, line(1, 'and ends'));
    await eventually('both are there', () => seen.out.endsWith('[pod/web-host/app] begins and ends\n'));
    agent.remove(view);
    expect(await done).toBe(true);
  });

  test('with --follow continues while the agent is down', async () => {
    const view = await serve({ main: { app: running() } });
    const file = await logged('app', 0, lines('one'));
    const { seen, done } = begin(['web'], { follow: true });
    await eventually('the first line is there', () => seen.out === 'one\n');
    await socket.close();
    await appendFile(file, line(1, 'two'));
    await eventually('the second line is there', () => seen.out === 'one\ntwo\n');
    socket = await serveSocket({ path: socketPath(rootDir), agent });
    agent.remove(view);
    expect(await done).toBe(true);
  });
});

describe('delete', () => {
  const from = (source: string) => ({ annotations: { 'kubernetes.io/config.source': source } });
  const refused = (words = ['pod/web']) => deletePod(words, { rootDir });

  test('says which manifest file to remove', async () => {
    await serve({ main: { app: running() }, meta: from('file') }, { places: { manifest: '/pods/web.yaml' } });
    await expect(refused()).rejects.toMatchObject({
      message: 'pod/web-host is a static pod: remove /pods/web.yaml to terminate it',
    });
    await expect(refused(['pod', 'none'])).rejects.toThrow('pods "none" not found');
    await expect(refused(['node/host'])).rejects.toThrow('node: unknown kind of resource');
  });

  test('also names the files of pods that wait for the first pod to be removed', async () => {
    const same = { file: '/pods/copy.yaml', path: 'metadata.uid', message: 'Duplicate value', pod: 'default/web-host' };
    const node = { problems: [same, { ...same, file: '/pods/db.yaml', pod: 'default/db-host' }] };
    await serve({ main: { app: running() }, meta: from('file') }, { node, places: { manifest: '/pods/web.yaml' } });
    await expect(refused()).rejects.toThrow(
      'remove /pods/web.yaml and /pods/copy.yaml, which has a pod of the same UID, to terminate it',
    );
  });

  test('names the URL to edit, and refers to the API server for an API pod', async () => {
    const places = { manifest: 'http://host/pods?token=xxxxx' };
    const view = await serve({ main: { app: running() }, meta: from('http') }, { places });
    await expect(refused()).rejects.toThrow(
      'pod/web-host is a static pod: remove it from the response of http://host/pods?token=xxxxx to terminate it',
    );
    agent.show({ ...view, pod: { ...view.pod, metadata: { ...view.pod.metadata, ...from('api') } } });
    await expect(refused()).rejects.toThrow('pod/web-host is not a static pod: delete it at its API server');
  });

  test('reports a static pod whose manifest has already been removed', async () => {
    await serve({ main: { app: running() }, meta: from('file') });
    await expect(refused()).rejects.toThrow(
      'pod/web-host is a static pod whose manifest was removed: it is terminating',
    );
  });
});
