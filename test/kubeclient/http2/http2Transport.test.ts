/** Requests to the test API server over real connections. Broken servers are simulated with sockets of the test. */
import { once } from 'node:events';
import { constants, createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createSecureContext, createServer as createTlsServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { KubeClient } from '../../../kubeclient/client.ts';
import type { CredentialSource, KubeEndpoint } from '../../../kubeclient/endpoint.ts';
import { Http2Transport } from '../../../kubeclient/http2/http2Transport.ts';
import { toListType } from '../../../kubeclient/paths.ts';
import { Api } from '../../../testing/apiserver/api.ts';
import { type RunningServer, serve } from '../../../testing/apiserver/serving/server.ts';
import { SettableClock } from '../../fakes/settableClock.ts';
import { Authority } from '../../testing/apiserver/serving/certificates.ts';

const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap' };
const CONFIG_MAP_LIST = toListType(CONFIG_MAP);
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
/** Stream limit of the server. With this limit, two streams of a connection remain for watches. */
const STREAMS = 12;
const tokens = new Map([['secret', { name: 'admin', groups: ['system:masters'] }]]);
const signal = new AbortController().signal;
const cleanUps: (() => unknown)[] = [];
let authority: Authority;
let pair: { readonly key: string; readonly cert: string };
let serving: RunningServer;

const start = (port = 0) =>
  serve(new Api({ clock: systemClock, tokens, address: '127.0.0.1' }), {
    port,
    tls: pair,
    maxConcurrentStreams: STREAMS,
  });

beforeAll(async () => {
  authority = new Authority();
  pair = authority.issue('/CN=kube-apiserver');
  serving = await start();
});

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

afterAll(async () => {
  await serving.close();
  authority.remove();
});

type Given = Partial<CredentialSource> & Pick<Partial<KubeEndpoint>, 'isInsecure'>;

const endpoint = (port: number, { isInsecure = false, ...given }: Given = {}): KubeEndpoint => ({
  origin: `https://127.0.0.1:${port}`,
  basePath: '',
  isInsecure,
  credentials: {
    context: async () => createSecureContext({ ca: authority.cert }),
    token: async () => 'secret',
    handleUnauthorized: () => {},
    ...given,
  },
});

const GET = { method: 'GET', path: CONFIG_MAPS, headers: {} };

function transportTo(port: number, more: Given = {}, clock: Clock = systemClock): Http2Transport {
  const transport = new Http2Transport(endpoint(port, more), clock);
  cleanUps.push(() => transport.close());
  return transport;
}

function client(port: number, more: Given = {}, clock: Clock = systemClock): KubeClient {
  const transport = transportTo(port, more, clock);
  return new KubeClient({ transport, clock, userAgent: 'statelet/test' });
}

/** Starts a server that accepts connections but never responds. Returns its port. */
async function serveSilently(secure: boolean): Promise<number> {
  const server = secure ? createTlsServer({ ...pair, ALPNProtocols: ['h2'] }) : createServer();
  const sockets: { destroy(): void }[] = [];
  server.on(secure ? 'secureConnection' : 'connection', (socket: { destroy(): void }) => {
    sockets.push(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  // The address of a server that listens on a port is an AddressInfo.
  return (server.address() as AddressInfo).port;
}

const configMap = (name: string) => ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name } });

describe('a server that responds', () => {
  test('creates, reads and deletes objects for the bearer of the token, with the body of each', async () => {
    const kube = client(serving.port);
    const made = await kube.create(CONFIG_MAPS, configMap('one'), { signal });
    expect(await kube.get(`${CONFIG_MAPS}/one`, { type: CONFIG_MAP, signal })).toEqual(made);
    const other = kube.delete(`${CONFIG_MAPS}/one`, { preconditions: { uid: 'another' } }, { signal });
    await expect(other).rejects.toMatchObject({ code: 409 });
    await kube.delete(`${CONFIG_MAPS}/one`, {}, { signal });
    await expect(kube.get(`${CONFIG_MAPS}/one`, { type: CONFIG_MAP, signal })).rejects.toMatchObject({ code: 404 });
    await expect(
      client(serving.port, { token: async () => 'wrong' }).get(CONFIG_MAPS, { type: CONFIG_MAP_LIST, signal }),
    ).rejects.toMatchObject({
      code: 401,
    });
  });

  test('gets a new token after it has rejected one', async () => {
    let token = 'old';
    const refused = () => {
      token = 'secret';
    };
    const kube = client(serving.port, { token: async () => token, handleUnauthorized: refused });
    await expect(kube.get(CONFIG_MAPS, { type: CONFIG_MAP_LIST, signal })).rejects.toMatchObject({ code: 401 });
    expect(await kube.get(CONFIG_MAPS, { type: CONFIG_MAP_LIST, signal })).toMatchObject({ kind: 'ConfigMapList' });
  });

  test('responds immediately despite many watches, which use separate connections', async () => {
    const kube = client(serving.port);
    const watches = await Promise.all(
      Array.from({ length: 7 }, () => kube.watch(`${CONFIG_MAPS}?watch=true`, { signal })),
    );
    expect(watches).toHaveLength(7);
    const asked = Array.from({ length: 30 }, () =>
      kube.get(CONFIG_MAPS, { type: CONFIG_MAP_LIST, signal, timeoutMs: 5_000 }),
    );
    expect(await Promise.all(asked)).toHaveLength(30);
  });

  test('accepts any number of concurrent watches and responds to requests meanwhile', async () => {
    const kube = client(serving.port);
    const watches = Array.from({ length: 5 * STREAMS }, () => kube.watch(`${CONFIG_MAPS}?watch=true`, { signal }));
    await expect(kube.get(CONFIG_MAPS, { type: CONFIG_MAP_LIST, signal })).resolves.toMatchObject({
      kind: 'ConfigMapList',
    });
    expect(await Promise.all(watches)).toHaveLength(5 * STREAMS);
  });

  test('streams events to a watch until the client closes it', async () => {
    const kube = client(serving.port);
    const controller = new AbortController();
    const events = await kube.watch(`${CONFIG_MAPS}?watch=true`, { signal: controller.signal });
    const heard = events[Symbol.asyncIterator]();
    await kube.create(CONFIG_MAPS, configMap('seen'), { signal });
    expect(await heard.next()).toMatchObject({ value: { type: 'ADDED', object: { metadata: { name: 'seen' } } } });
    const next = heard.next();
    controller.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
  });

  test('is contacted again after an outage', async () => {
    const first = await start();
    const kube = client(first.port);
    await kube.get(CONFIG_MAPS, { type: CONFIG_MAP_LIST, signal });
    await first.close();
    await expect(kube.get(CONFIG_MAPS, { type: CONFIG_MAP_LIST, signal })).rejects.toThrow(
      /ECONNREFUSED|closed the connection/,
    );
    // Callers recognize by the code that no server listens.
    await expect(kube.get(CONFIG_MAPS, { type: CONFIG_MAP_LIST, signal })).rejects.toMatchObject({
      code: 'ECONNREFUSED',
      message: expect.stringMatching(/^connect ECONNREFUSED /),
    });
    const second = await start(first.port);
    cleanUps.push(() => second.close());
    expect(await kube.get(CONFIG_MAPS, { type: CONFIG_MAP_LIST, signal })).toMatchObject({ kind: 'ConfigMapList' });
  });
});

describe('a server that does not respond', () => {
  test('is rejected if its certificate is not trusted', async () => {
    await expect(
      client(serving.port, { context: async () => createSecureContext() }).get(CONFIG_MAPS, {
        type: CONFIG_MAP_LIST,
        signal,
        timeoutMs: 5_000,
      }),
    ).rejects.toThrow('unable to verify the first certificate');
    const insecure = client(serving.port, { context: async () => createSecureContext(), isInsecure: true });
    expect(await insecure.get(CONFIG_MAPS, { type: CONFIG_MAP_LIST, signal })).toMatchObject({ kind: 'ConfigMapList' });
  });

  test('is abandoned after 30 s of silence and 15 s without a response to a ping', async () => {
    const clock = new SimulatedClock();
    const asked = client(await serveSilently(true), {}, clock).get(CONFIG_MAPS, {
      type: CONFIG_MAP_LIST,
      signal,
      timeoutMs: 600_000,
    });
    const failed = expect(asked).rejects.toThrow('no answer to a ping within 15s');
    await waitForConnection();
    await clock.advance(30_000);
    await clock.advance(15_000);
    await failed;
  });

  test('is abandoned after the same time if the clock is set back meanwhile', async () => {
    const clock = new SettableClock();
    const asked = client(await serveSilently(true), {}, clock).get(CONFIG_MAPS, {
      type: CONFIG_MAP_LIST,
      signal,
      timeoutMs: 600_000,
    });
    const failed = expect(asked).rejects.toThrow('no answer to a ping within 15s');
    await waitForConnection();
    clock.set(-3_600_000);
    await clock.advance(45_000);
    await failed;
  });

  test('is abandoned if there is no connection within 30 s', async () => {
    const clock = new SimulatedClock();
    const asked = client(await serveSilently(false), {}, clock).get(CONFIG_MAPS, {
      type: CONFIG_MAP_LIST,
      signal,
      timeoutMs: 600_000,
    });
    const failed = expect(asked).rejects.toThrow('no connection within 30s');
    await waitForConnection();
    await clock.advance(30_000);
    await failed;
  });

  test('is contacted over a new connection after a reset, which fails the requests on the old ones', async () => {
    const transport = new Http2Transport(endpoint(serving.port), systemClock);
    cleanUps.push(() => transport.close());
    const kube = new KubeClient({ transport, clock: systemClock, userAgent: 'statelet/test' });
    const watch = await kube.watch(`${CONFIG_MAPS}?watch=true`, { signal });
    const heard = watch[Symbol.asyncIterator]().next();
    const broken = expect(heard).rejects.toThrow('the connection was given up, for nothing was heard over it');
    kube.reconnect();
    expect(await kube.get(CONFIG_MAPS, { type: CONFIG_MAP_LIST, signal })).toMatchObject({ kind: 'ConfigMapList' });
    await broken;
  });

  test('is contacted over a new connection with new credentials, which ends watches but no requests in flight', async () => {
    const api = new Api({ clock: systemClock, tokens, address: '127.0.0.1' });
    const tls = { ...pair, clientCa: authority.cert };
    const server = await serve(api, { tls });
    cleanUps.push(() => server.close());
    const shown = [authority.issue('/O=system:masters/CN=one'), authority.issue('/O=system:masters/CN=two')];
    const context = async () => createSecureContext({ ca: authority.cert, ...shown.shift() });
    const transport = transportTo(server.port, { context, token: async () => undefined });
    const kube = new KubeClient({ transport, clock: systemClock, userAgent: 'test' });
    const watch = (await kube.watch(`${CONFIG_MAPS}?watch=true`, { signal }))[Symbol.asyncIterator]();
    const slow = { fault: { kind: 'latency', ms: 300 }, times: 1, matches: () => true } as const;
    api.faults.add(slow);
    const [next, asked] = [watch.next(), kube.get(CONFIG_MAPS, { type: CONFIG_MAP_LIST, signal })];
    await pause(100);
    transport.reconnect();
    await expect(next).rejects.toThrow('the connection was opened anew, with other credentials');
    expect(await asked).toMatchObject({ kind: 'ConfigMapList' });
    expect(shown).toHaveLength(1);
    await kube.get(CONFIG_MAPS, { type: CONFIG_MAP_LIST, signal });
    expect(shown).toHaveLength(0);
  });

  test('is not contacted once the transport is closed', async () => {
    const transport = new Http2Transport(endpoint(serving.port), systemClock);
    const kube = new KubeClient({ transport, clock: systemClock, userAgent: 'statelet/test' });
    await kube.get(CONFIG_MAPS, { type: CONFIG_MAP_LIST, signal });
    transport.close();
    await expect(kube.get(CONFIG_MAPS, { type: CONFIG_MAP_LIST, signal })).rejects.toThrow('the connection was closed');
  });
});

describe('a cancelled request', () => {
  const never = () => new Promise<never>(() => {});

  test.each<[string, Given]>([
    ['the token', { token: never }],
    ['the certificates', { context: never }],
  ])('is rejected immediately during the read of %s', async (_what, given) => {
    const transport = transportTo(serving.port, given);
    const controller = new AbortController();
    const asked = transport.send(GET, controller);
    controller.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
    await expect(transport.send(GET, controller)).rejects.toThrow('enough');
  });

  test.each([false, true])('is rejected immediately while the server is silent (TLS: %s)', async (isSecure) => {
    const transport = transportTo(await serveSilently(isSecure));
    const controller = new AbortController();
    const asked = transport.send(GET, controller);
    await waitForConnection();
    controller.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
  });

  test('leaves the connection attempt to the next request', async () => {
    const read = Promise.withResolvers<void>();
    let reads = 0;
    const context = async () => {
      reads += 1;
      await read.promise;
      return createSecureContext({ ca: authority.cert });
    };
    const transport = transportTo(serving.port, { context });
    const controller = new AbortController();
    const first = transport.send(GET, controller);
    controller.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    const second = transport.send(GET, { signal });
    read.resolve();
    expect(await second).toMatchObject({ code: 200 });
    expect(await transport.send(GET, { signal })).toMatchObject({ code: 200 });
    expect(reads).toBe(1);
  });

  test('leaves nothing behind if the transport is closed or reset before the connection is established', async () => {
    const sockets = new Set<object>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.resume().on('close', () => sockets.delete(socket));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    cleanUps.push(() => server.close());
    // The address of a server that listens on a port is an AddressInfo.
    const transport = transportTo((server.address() as AddressInfo).port);
    for (const end of ['reset', 'close'] as const) {
      const asked = transport.send(GET, { signal });
      const failed = expect(asked).rejects.toThrow(/was given up|was closed/);
      while (sockets.size === 0) await pause(5);
      transport[end]();
      await failed;
      while (sockets.size > 0) await pause(5);
    }
    await expect(transport.send(GET, { signal })).rejects.toThrow('the connection was closed');
  });
});

/** Waits long enough for a real connection to be established. */
const waitForConnection = () => new Promise((done) => setTimeout(done, 300));

test('a server that sends GOAWAY without closing the connection is contacted again', async () => {
  const server = createSecureServer(pair);
  const sockets: { destroy(): void }[] = [];
  server.on('secureConnection', (socket) => sockets.push(socket));
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200 });
    stream.end(JSON.stringify(CONFIG_MAP));
    stream.session?.goaway(0, stream.id);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const clock = new SimulatedClock();
  // The address of a server that listens on a port is an AddressInfo.
  const kube = client((server.address() as AddressInfo).port, {}, clock);
  expect(await kube.get('/answer', { type: CONFIG_MAP, signal })).toEqual(CONFIG_MAP);
  // The abandoned connection must not be pinged, because that would end the process.
  for (let second = 0; second < 60; second += 1) {
    await clock.advance(1_000);
    await pause(5);
  }
  expect(await kube.get('/answer', { type: CONFIG_MAP, signal })).toEqual(CONFIG_MAP);
  expect(sockets).toHaveLength(2);
});

/**
 * Starts a server that refuses this number of requests before it responds to one. Returns a client and the received
 * requests.
 */
async function refusing(times: number, refuse: (stream: ServerHttp2Stream) => void) {
  const server = createSecureServer(pair);
  const asked: string[] = [];
  server.on('stream', (stream, { ':path': path = '' }) => {
    stream.on('error', () => {});
    const isRefused = path !== '/answer' && asked.length < times;
    if (path !== '/answer') asked.push(path);
    if (isRefused) return refuse(stream);
    stream.respond({ ':status': 200 });
    stream.end(JSON.stringify(CONFIG_MAP));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanUps.push(() => server.close());
  // The address of a server that listens on a port is an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return { asked, kube: client(port, {}, new SimulatedClock()) };
}

/** Sends GOAWAY with the stream of the previous request as the last one that the server processed. */
const goAway = (stream: ServerHttp2Stream) => stream.session?.goaway(0, Number(stream.id) - 2);
const refuseStream = (stream: ServerHttp2Stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM);

test.each([
  ['goes away', goAway],
  ['has no stream left', refuseStream],
])(
  'a request that a server has not processed because it %s is retried',
  async (_why, refuse) => {
    const { kube, asked } = await refusing(1, refuse);
    await kube.get('/answer', { type: CONFIG_MAP, signal });
    expect(await kube.create(CONFIG_MAPS, configMap('web'), { signal })).toEqual(CONFIG_MAP);
    expect(asked).toHaveLength(2);
  },
  5_000,
);

test('a request that the server always refuses is not retried forever', async () => {
  const { kube, asked } = await refusing(100, refuseStream);
  await expect(kube.get(CONFIG_MAPS, { type: CONFIG_MAP_LIST, signal })).rejects.toThrow(
    'the server refused the request unread',
  );
  expect(asked).toHaveLength(3);
});
