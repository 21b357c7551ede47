import { once } from 'node:events';
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createWebSocketStream, WebSocket } from 'ws';
import { systemClock } from '../../../base/time/clock.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import { PodSandboxConfig } from '../../../cri/generated/runtime.ts';
import { inProcessCri } from '../../../cri/simulated/inProcessCri.ts';
import { createSimulatedRuntime, type SimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import { serveSimulatedStreams } from '../../../cri/simulated/streams/serveSimulatedStreams.ts';
import { type CommandStreams, runRemoteCommand } from '../../../cri/streaming/remoteCommand.ts';
import { SpdyConnection } from '../../../cri/streaming/spdyConnection.ts';
import { dialSpdy } from '../../../cri/streaming/upgrade.ts';
import { StreamSessions } from '../../../kubelet-api/sessions.ts';
import { streamingRoutes } from '../../../kubelet-api/streaming/routes.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { Actions } from '../../cri/scenarioActions.ts';
import { containerWith } from '../../fakes/pods.ts';
import { runningContainers } from '../../fakes/runningContainers.ts';
import { servedRoutes } from '../../fakes/serving/relay/served.ts';
import { exited, podView, running, seenPod, waiting } from '../../kubernetes/views.ts';

const IMAGE = 'statelet.local/busybox:1';
const noAbort = new AbortController().signal;
const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Tried {
  readonly runtime: SimulatedRuntime;
  readonly sessions: StreamSessions;
  readonly url: string;
  readonly container: string;
  readonly sandbox: string;
  readonly failures: readonly unknown[];
}

/** Serves a node's streaming routes over a simulated runtime with one pod. */
async function node(): Promise<Tried> {
  const served = serveSimulatedStreams(systemClock);
  const runtime = createSimulatedRuntime({
    clock: systemClock,
    latency: 0,
    images: { present: [IMAGE] },
    streams: served.streams,
    exec: ({ cmd }) => (cmd[0] === 'say' ? { stdout: 'out\n', stderr: 'err\n', exitCode: Number(cmd[1]) } : undefined),
    ports: () => (port) => {
      if (port !== 80) return undefined;
      const echo = new PassThrough();
      return echo;
    },
  });
  const cri = inProcessCri(runtime);
  const play = new Actions({ cri, image: IMAGE, uid: 'u1', signal: noAbort, wait: async () => {} });
  const sandbox = await sandboxIn(cri);
  const container = await play.container(sandbox, 'web', 'main', []);
  await play.start(container);
  const sessions = new StreamSessions();
  const listContainers = runningContainers('u1', { main: container, shell: container });
  const parts = { pods: () => [shown(container)], cri: { ...cri, listContainers }, clock: systemClock, sessions };
  const { url, close, failures } = await servedRoutes(streamingRoutes(parts));
  ends.push(close, served.close);
  return { runtime, sessions, url, container, sandbox, failures };
}

async function sandboxIn(cri: Cri): Promise<string> {
  const config = PodSandboxConfig.fromPartial({
    metadata: { name: 'web', namespace: 'shop', uid: 'u1' },
    labels: { 'io.kubernetes.pod.uid': 'u1' },
  });
  return (await cri.runPodSandbox({ config, runtimeHandler: '' }, { signal: noAbort })).podSandboxId;
}

/** Waits until the number of open sessions is `count`. */
async function sessionsAre(count: number, sessions: StreamSessions): Promise<void> {
  while (sessions.open.length !== count) await new Promise((resolve) => setTimeout(resolve, 10));
}

function shown(containerId: string): Pod {
  const { pod } = seenPod(
    podView({
      main: { main: running({ containerId }), slow: waiting(), over: exited(1), shell: running({ containerId }) },
      meta: { name: 'web', namespace: 'shop', uid: 'u1' },
    }),
  );
  const containers = pod.spec.containers.map((each) =>
    each.name === 'shell' ? { ...containerWith('shell'), tty: true } : each,
  );
  return { ...pod, spec: { ...pod.spec, containers } };
}

const EXEC = { kind: 'exec', namespace: 'shop', pod: 'web', container: 'main' };
const UPGRADE = { Connection: 'Upgrade', Upgrade: 'SPDY/3.1', 'X-Stream-Protocol-Version': 'v4.channel.k8s.io' };

/** Returns the response that rejects a request. */
async function refusal(url: string, headers: Record<string, string> = UPGRADE, method = 'POST') {
  const clientRequest = ask(url, { method, headers, agent: false });
  clientRequest.end();
  const [response] = await once(clientRequest, 'response');
  return { code: response.statusCode, body: await text(response), type: response.headers['content-type'] };
}

const dial = async (url: string, ...protocols: readonly string[]) =>
  (await dialSpdy(new URL(url), { protocols, signal: noAbort, timeoutMs: 5_000 })).connection;

async function command(url: string, streams: CommandStreams): Promise<number> {
  return await runRemoteCommand(await dial(url, 'v4.channel.k8s.io'), streams, noAbort);
}

function collector() {
  const stream = new PassThrough();
  return { stream, text: text(stream) };
}

describe('C41: a request is rejected in this order and with these messages', () => {
  const STREAMS = '?input=1&output=1&command=cat';
  test.each([
    ['no stream', '/exec/none/x/y', 400, 'you must specify at least 1 of stdin, stdout, stderr'],
    ['output=true', '/exec/shop/web/main?output=true', 400, 'you must specify at least 1 of stdin, stdout, stderr'],
    ['stderr of a terminal', '/exec/shop/web/main?error=1&tty=1', 400, /^you must specify/],
    ['no pod', `/exec/shop/other/main${STREAMS}`, 404, 'pod does not exist'],
    ['a pod elsewhere', `/attach/other/web/main${STREAMS}`, 404, 'pod does not exist'],
    ['a container that waits', `/exec/shop/web/slow${STREAMS}`, 500, 'container not found ("slow")'],
    ['one that has ended', `/attach/shop/web/over${STREAMS}`, 500, 'container over not found in pod web_shop'],
    ['another uid, to attach', `/attach/shop/web/u2/main${STREAMS}`, 500, 'pod web_shop not found'],
    [
      'stderr of a process with a terminal',
      '/attach/shop/web/shell?output=1&error=1',
      500,
      'rpc error: code = InvalidArgument desc = tty and stderr cannot both be true',
    ],
    ['another uid, for ports', '/portForward/shop/web/u2', 404, 'pod not found'],
    ['no path of a container', '/exec/shop/web', 404, '404: Page Not Found'],
    ['a path too long', '/portForward/shop/web/u1/main', 404, '404: Page Not Found'],
    ['no pod, to run in', '/run/shop/other/main?cmd=true', 404, 'pod does not exist'],
    ['a command that fails', '/run/shop/web/main?cmd=say+3', 500, "command 'say 3' exited with 3: err\n"],
  ])('%s', async (_, path, code, body) => {
    const { url } = await node();
    expect(await refusal(url + path)).toEqual({
      code,
      body: typeof body === 'string' ? body : expect.stringMatching(body),
      type: 'text/plain; charset=utf-8',
    });
  });

  test.each([
    ['', 'query parameter "port" is required'],
    ['?port=', 'query parameter "port" cannot be empty'],
    ['?port=80,0', 'port "80,0" must be > 0'],
    ['?port=x', 'unable to parse "x" as a port: strconv.ParseUint: parsing "x": invalid syntax'],
    ['?port=65536', 'unable to parse "65536" as a port: strconv.ParseUint: parsing "65536": value out of range'],
  ])('for the WebSocket ports in the query "%s"', async (query, body) => {
    const { url } = await node();
    const headers = { Connection: 'Upgrade', Upgrade: 'websocket' };
    const rejection = await refusal(`${url}/portForward/none/none${query}`, headers, 'GET');
    expect(rejection).toMatchObject({ code: 400, body });
  });

  test('without an upgrade, once everything else is valid', async () => {
    const { url } = await node();
    const rejection = await refusal(`${url}/exec/shop/web/main?output=1&command=true`, {});
    expect(rejection).toMatchObject({ code: 500, body: 'Upgrade request required\n' });
  });

  test('with the message and code of the runtime', async () => {
    const { url, runtime } = await node();
    runtime.faults.add({ call: 'exec', error: { code: 'RESOURCE_EXHAUSTED', message: 'too many' } });
    const rejection = await refusal(`${url}/exec/shop/web/main?output=1&command=true`);
    expect(rejection).toMatchObject({ code: 429, body: 'rpc error: code = ResourceExhausted desc = too many' });
  });

  test.each([
    ['exec', '/exec/shop/web/main?output=1&command=true'],
    ['attach', '/attach/shop/web/main?output=1'],
    ['portForward', '/portForward/shop/web'],
    ['listPodSandbox', '/portForward/shop/web'],
    ['execSync', '/run/shop/web/main?cmd=true'],
  ] as const)('for %s if the runtime is not available', async (call, path) => {
    const { url, runtime } = await node();
    const message = 'connect ENOENT /run/containerd.sock';
    runtime.faults.add({ call, error: { code: 'UNAVAILABLE', message } });
    const rejection = await refusal(url + path);
    expect(rejection).toMatchObject({ code: 500, body: `rpc error: code = Unavailable desc = ${message}` });
  });

  test('with an unchanged rejection of the streaming server', async () => {
    const { url } = await node();
    const headers = { ...UPGRADE, 'X-Stream-Protocol-Version': 'v9.channel.k8s.io' };
    const rejection = await refusal(`${url}/exec/shop/web/main?output=1&command=true`, headers);
    expect(rejection.code).toBe(403);
    expect(rejection.body).toContain('client supports [v9.channel.k8s.io]');
  });
});

test('C41: a command has its exit code and its two outputs', async () => {
  const { url, sessions } = await node();
  const [stdout, stderr] = [collector(), collector()];
  const path = '/exec/shop/web/u1/main?output=1&error=1&command=say&command=7';
  expect(await command(url + path, { stdout: stdout.stream, stderr: stderr.stream })).toBe(7);
  expect([await stdout.text, await stderr.text]).toEqual(['out\n', 'err\n']);
  await sessionsAre(0, sessions);
});

test('C41: all input of a command is passed through', async () => {
  const { url } = await node();
  const part = Buffer.alloc(1024 * 1024, 'x');
  const parts = 100;
  let seen = 0;
  const stdout = new PassThrough().on('data', (data: Buffer) => (seen += data.length));
  const stdin = Readable.from(Array.from({ length: parts }, () => part));
  expect(await command(`${url}/exec/shop/web/main?input=1&output=1&command=cat`, { stdin, stdout })).toBe(0);
  expect(seen).toBe(parts * part.length);
});

test('C41: 100 concurrent sessions are all listed, and end when the container exits', async () => {
  const { url, sessions, runtime, container } = await node();
  const path = `${url}/exec/shop/web/main?input=1&output=1&command=cat`;
  const all = Array.from({ length: 100 }, () => command(path, { stdin: new PassThrough(), stdout: new PassThrough() }));
  await sessionsAre(100, sessions);
  expect(sessions.open[0]).toMatchObject({ ...EXEC, caller: expect.stringMatching(/./) });
  await runtime.call('stopContainer', { containerId: container, timeout: 0n }, noAbort);
  expect(new Set(await Promise.all(all))).toEqual(new Set([137]));
  await sessionsAre(0, sessions);
});

test('C41: an attached client is disconnected when the container exits', async () => {
  const { url, runtime, container } = await node();
  const attached = command(`${url}/attach/shop/web/main?output=1`, { stdout: new PassThrough() });
  await new Promise((resolve) => setTimeout(resolve, 100));
  await runtime.call('stopContainer', { containerId: container, timeout: 0n }, noAbort);
  expect(await attached).toBe(0);
});

test('a session ends when its client disconnects', async () => {
  const { url, sessions } = await node();
  const connection = await dial(`${url}/attach/shop/web/main?output=1`, 'v4.channel.k8s.io');
  await sessionsAre(1, sessions);
  connection.close();
  await sessionsAre(0, sessions);
});

test('C41: ports are forwarded for any number of connections', async () => {
  const { url } = await node();
  const connection = await dial(`${url}/portForward/shop/web`, 'portforward.k8s.io');
  const open = (type: string, port: string, requestid: string) =>
    connection.open(
      new Map([
        ['streamtype', type],
        ['port', port],
        ['requestid', requestid],
      ]),
    );
  for (const id of ['0', '1']) {
    const [error, data] = [await open('error', '80', id), await open('data', '80', id)];
    data.end(Buffer.from(`hello ${id}`));
    expect(await text(data)).toBe(`hello ${id}`);
    expect(await text(error)).toBe('');
  }
  const [error] = [await open('error', '81', '2'), await open('data', '81', '2')];
  expect(await text(error)).toMatch(/^failed to connect to localhost:81.*refused$/);
  connection.close();
});

test('a stopped sandbox has no ports', async () => {
  const { url, runtime, sandbox } = await node();
  await runtime.call('stopPodSandbox', { podSandboxId: sandbox }, noAbort);
  expect(await refusal(`${url}/portForward/shop/web`)).toMatchObject({ code: 500, body: 'pod not found ("web_shop")' });
});

test('C41: a run request returns the outputs of the command', async () => {
  const { url } = await node();
  const response = await refusal(`${url}/run/shop/web/main?cmd=say+0`, {});
  expect(response).toEqual({ code: 200, body: 'out\nerr\n', type: 'application/json' });
  expect(await refusal(`${url}/run/shop/web/main?cmd=true`, {})).toEqual({ code: 200, body: '', type: undefined });
});

test('C41: the streaming server gets the request without its credentials, and its rejection is passed on', async () => {
  const streamingServer = createServer((request, response) => {
    const { authorization = 'nobody', 'sec-websocket-protocol': protocols, 'x-mark': mark } = request.headers;
    response.writeHead(403).end(`${authorization} ${protocols} ${mark}`);
  }).listen(0, '127.0.0.1');
  await once(streamingServer, 'listening');
  ends.push(async () => streamingServer.close());
  // Safe cast: a server that listens on a port has such an address.
  const { port } = streamingServer.address() as AddressInfo;
  const exec = async () => ({ url: `http://127.0.0.1:${port}/exec/token` });
  const listContainers = runningContainers('u1', { main: 'c1' });
  const cri = { ...inProcessCri(createSimulatedRuntime({ clock: systemClock })), exec, listContainers };
  const parts = { pods: () => [shown('c1')], cri, clock: systemClock, sessions: new StreamSessions() };
  const { url, close } = await servedRoutes(streamingRoutes(parts));
  ends.push(close);
  const headers = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    Authorization: 'Bearer secret',
    'X-Mark': 'seen',
    'Sec-WebSocket-Protocol': 'v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.c2VjcmV0',
  };
  const rejection = await refusal(`${url}/exec/shop/web/main?output=1&command=true`, headers, 'GET');
  expect(rejection).toMatchObject({ code: 403, body: 'nobody v4.channel.k8s.io seen' });
});

describe('C41: a WebSocket client of the node', () => {
  const COMMAND = 'v5.channel.k8s.io';
  const TUNNEL = 'SPDY/3.1+portforward.k8s.io';

  async function opened(url: string, subprotocol: string): Promise<WebSocket> {
    // The package rejects names that RFC 6455 does not allow, so the header is sent by hand.
    const sent = ask(url, {
      agent: false,
      headers: {
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': Buffer.alloc(16).toString('base64'),
        'Sec-WebSocket-Protocol': subprotocol,
      },
    });
    sent.end();
    const [response, socket, head] = await once(sent, 'upgrade');
    expect(response.headers['sec-websocket-protocol']).toBe(subprotocol);
    // The types omit the constructor arguments with which the package's own server turns a connection into a WebSocket.
    const client: WebSocket = Reflect.construct(WebSocket, [null, undefined, {}]);
    Reflect.set(client, '_isServer', false);
    const options = { allowSynchronousEvents: true, maxPayload: 0, skipUTF8Validation: false };
    Reflect.apply(Reflect.get(client, 'setSocket'), client, [socket, head, options]);
    return client;
  }

  async function messagesOf(client: WebSocket): Promise<string[]> {
    const texts: string[] = [];
    client.on('message', (data: Buffer) => void texts.push(`${data[0]} ${data.subarray(1)}`));
    await once(client, 'close');
    return texts;
  }

  test('runs a command with its input, and receives its output and exit', async () => {
    const { url, sessions } = await node();
    const client = await opened(`${url}/exec/shop/web/main?input=1&output=1&command=cat`, COMMAND);
    const messages = messagesOf(client);
    await sessionsAre(1, sessions);
    client.send(Buffer.from('\0hello'));
    client.send(Buffer.of(255, 0));
    expect(await messages).toEqual(['1 ', '1 hello', `3 ${JSON.stringify({ metadata: {}, status: 'Success' })}`]);
    await sessionsAre(0, sessions);
  });

  test('receives the exit code of a failing command', async () => {
    const { url } = await node();
    const messages = await messagesOf(await opened(`${url}/exec/shop/web/main?error=1&command=say&command=3`, COMMAND));
    expect(messages.at(-1)).toMatch(
      /^3 .*"reason":"NonZeroExitCode".*"causes":\[\{"reason":"ExitCode","message":"3"\}\]/,
    );
  });

  test('is rejected before the upgrade if the pod does not exist', async () => {
    const { url } = await node();
    const headers = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Protocol': COMMAND };
    expect(await refusal(`${url}/exec/shop/other/main?output=1&command=true`, headers, 'GET')).toMatchObject({
      code: 404,
      body: 'pod does not exist',
    });
  });

  test('forwards ports through a tunnel, which needs no port in the query', async () => {
    const { url, sessions } = await node();
    const client = await opened(`${url}/portForward/shop/web`, TUNNEL);
    const connection = new SpdyConnection(createWebSocketStream(client), { role: 'client' });
    const open = (type: string) =>
      connection.open(
        new Map([
          ['streamtype', type],
          ['port', '80'],
          ['requestid', '0'],
        ]),
      );
    const [, data] = [await open('error'), await open('data')];
    data.end(Buffer.from('hello'));
    expect(await text(data)).toBe('hello');
    await sessionsAre(1, sessions);
    connection.close();
    await sessionsAre(0, sessions);
  });

  test('ends its session when it disconnects', async () => {
    const { url, sessions } = await node();
    const client = await opened(`${url}/attach/shop/web/main?output=1`, COMMAND);
    await sessionsAre(1, sessions);
    client.terminate();
    await sessionsAre(0, sessions);
  });
});
