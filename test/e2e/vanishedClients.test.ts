/** The processes of commands whose clients disconnect from the node API, with real containers. */
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect as connectPlain, type Socket } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectSecure } from 'node:tls';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { connectCri } from '../../cri/client/connectCri.ts';
import { layoutOf } from '../../cri/managed/layout.ts';
import { type CommandStreams, runRemoteCommand } from '../../cri/streaming/remoteCommand.ts';
import { SpdyConnection } from '../../cri/streaming/spdyConnection.ts';
import { testCluster } from './support/cluster.ts';
import { noAbort } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { isContainerd2 } from './support/runtimes.ts';

const cluster = await forAllTests(() => testCluster());
const { node, server } = cluster;
const POD = '/api/v1/namespaces/default/pods/web';
let containerId = '';

beforeAll(async () => {
  await cluster.addNamespace('made');
  const volumes = [{ name: 'shared', hostPath: { path: node.shared } }];
  const spec = { automountServiceAccountToken: false, terminationGracePeriodSeconds: 0, volumes };
  const main = shell('main', steadily(), { volumeMounts: [{ name: 'shared', mountPath: '/shared' }] });
  const manifest = JSON.parse(JSON.stringify(podManifest('web', [main], spec)));
  await server.request('POST', '/api/v1/namespaces/default/pods', manifest);
  containerId = await eventually('the pod runs', async () => {
    const text = JSON.stringify(await server.request('GET', POD));
    return /"containerID":"containerd:\/\/([0-9a-f]+)"/.exec(text)?.[1];
  });
});

/**
 * Returns a word for a command line that no other process on this host has, not even one from a concurrent run of these
 * tests.
 */
const uniqueWord = (name: string) => `${name}-${process.pid}`;

/** Returns the processes with a word among the arguments of their command lines. */
async function processesOf(word: string): Promise<number[]> {
  const pids: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const commandLine = await readFile(join('/proc', name, 'cmdline'), 'utf8').catch(() => '');
    if (commandLine.split('\0').includes(word)) pids.push(Number(name));
  }
  return pids;
}

const hasStarted = (word: string) =>
  eventually(`the process ${word} runs`, async () => (await processesOf(word)).length > 0);

const hasExited = (word: string) =>
  eventually(`the process ${word} exits`, async () => (await processesOf(word)).length === 0);

/** The streams that a command requests. */
interface Requested {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly tty: boolean;
}

const INPUT: Requested = { stdin: true, stdout: true, tty: false };
const TERMINAL: Requested = { stdin: true, stdout: true, tty: true };
const OUTPUT: Requested = { stdin: false, stdout: true, tty: false };

interface Session {
  /** The TCP connection of the client. */
  readonly connection: Socket;
  readonly input: PassThrough;
}

/** The port of the node's HTTPS server, and the key and certificate of an administrator. */
async function nodeEndpoint() {
  const text = JSON.stringify(await server.request('GET', '/api/v1/nodes/node'));
  const port = Number(/"kubeletEndpoint":\{"Port":(\d+)/.exec(text)?.[1]);
  const { user } = JSON.parse(await readFile(cluster.kubeconfig, 'utf8')).users[0];
  const [key, cert] = ['client-key-data', 'client-certificate-data'].map((name) => Buffer.from(user[name], 'base64'));
  return { port, key, cert };
}

/** Runs a script through the node's HTTPS server, as the API server does for kubectl. */
async function exec(script: string, word: string, { stdin, stdout, tty }: Requested): Promise<Session> {
  const { port, key, cert } = await nodeEndpoint();
  const connection = connectPlain(port, '127.0.0.1').on('error', () => {});
  const secure = connectSecure({ socket: connection, key, cert, rejectUnauthorized: false }).on('error', () => {});
  await once(secure, 'secureConnect');
  const query = new URLSearchParams({
    input: String(Number(stdin)),
    output: String(Number(stdout)),
    tty: String(Number(tty)),
  });
  for (const each of ['sh', '-c', script, word]) query.append('command', each);
  const input = new PassThrough();
  run(await upgrade(secure, `/exec/default/web/main?${query}`), input, { stdin, stdout, tty });
  await hasStarted(word);
  return { connection, input };
}

/** Upgrades a connection to the streams of a command. */
async function upgrade(connection: Socket, path: string): Promise<SpdyConnection> {
  const headers = { Connection: 'Upgrade', Upgrade: 'SPDY/3.1', 'X-Stream-Protocol-Version': 'v4.channel.k8s.io' };
  const sent = request({ createConnection: () => connection, method: 'POST', path, headers }).end();
  const [, socket] = await once(sent, 'upgrade');
  return new SpdyConnection(socket, { role: 'client' });
}

function run(connection: SpdyConnection, input: PassThrough, { stdin, stdout, tty }: Requested): void {
  const streams: CommandStreams = {
    ...(stdin ? { stdin: input } : {}),
    ...(stdout ? { stdout: new PassThrough().resume() } : {}),
    ...(tty ? { tty: { followSize: () => () => {} } } : {}),
  };
  void runRemoteCommand(connection, streams, noAbort).catch(() => {});
}

/** Runs a script through the runtime's own streaming server. */
async function execAtRuntime(script: string, word: string, requested: Requested): Promise<Session> {
  const runtimeEndpoint = `unix://${layoutOf(node.containerdDirectory).socket}`;
  const cri = connectCri({ runtimeEndpoint, requestTimeoutMs: 30_000 });
  try {
    const cmd = ['sh', '-c', script, word];
    const { url } = await cri.exec({ containerId, cmd, stderr: false, ...requested }, { signal: noAbort });
    const { hostname, port, pathname } = new URL(url);
    const connection = connectPlain(Number(port), hostname).on('error', () => {});
    const input = new PassThrough();
    run(await upgrade(connection, pathname), input, requested);
    await hasStarted(word);
    return { connection, input };
  } finally {
    cri.close();
  }
}

const WAYS = [
  ['resets', ({ connection }: Session) => connection.resetAndDestroy()],
  ['closes', ({ connection }: Session) => connection.destroy()],
] as const;

describe.each(WAYS)('C41: when a client %s its connection', (way, disconnect) => {
  test('a command that reads its input reaches the end of the input and exits', async () => {
    const word = uniqueWord(`reader-${way}`);
    const session = await exec('cat; exit 0', word, INPUT);
    session.input.write('some input\n');
    disconnect(session);
    await hasExited(word);
  });

  test('a command that has not read all of its input yet reads the rest and then the end of the input', async () => {
    const word = uniqueWord(`late-${way}`);
    const session = await exec(
      `until [ -e /shared/${word} ]; do sleep 0.1; done; cat > /dev/null; exit 0`,
      word,
      INPUT,
    );
    // More data than all buffers between the client and the command can hold.
    session.input.write(Buffer.alloc(32 * 1024 * 1024, 'x'));
    await pause(1_000);
    disconnect(session);
    await pause(1_000);
    expect(await processesOf(word)).not.toEqual([]);
    await writeFile(join(node.shared, word), '');
    await hasExited(word);
  });
});

test('C41: when a client of v5.channel.k8s.io vanishes, a command that reads its input exits', async () => {
  const word = uniqueWord('reader-v5');
  const { port, key, cert } = await nodeEndpoint();
  const query = new URLSearchParams({ input: '1', output: '1' });
  for (const each of ['sh', '-c', 'cat; exit 0', word]) query.append('command', each);
  const url = `wss://127.0.0.1:${port}/exec/default/web/main?${query}`;
  const client = new WebSocket(url, ['v5.channel.k8s.io'], { key, cert, rejectUnauthorized: false });
  await once(client, 'open');
  await hasStarted(word);
  client.terminate();
  await hasExited(word);
});

test('C41: a command that does not read the end of its input ends with its client or its container, as with a direct client of the runtime', async () => {
  const commands = [
    ['with a terminal', 'cat; exit 0', TERMINAL],
    ['without input', 'while sleep 0.2; do echo tick; done', OUTPUT],
    ['that ignores its input', 'while sleep 0.2; do :; done', INPUT],
  ] as const;
  const words: string[] = [];
  for (const [name, script, requested] of commands) {
    const [ofNode, ofRuntime] = [uniqueWord(`${name}, of the node`), uniqueWord(`${name}, of the runtime`)];
    const { connection } = await exec(script, ofNode, requested);
    connection.resetAndDestroy();
    (await execAtRuntime(script, ofRuntime, requested)).connection.resetAndDestroy();
    words.push(ofNode, ofRuntime);
  }
  await pause(10_000);
  const counts = await Promise.all(words.map(async (word) => [word, (await processesOf(word)).length]));
  // containerd 2 kills a command whose client is gone.
  expect(counts).toEqual(words.map((word) => [word, isContainerd2 ? 0 : 1]));
  await server.request('DELETE', POD, { gracePeriodSeconds: 0 });
  for (const word of words) await hasExited(word);
});
