/** Connections through proxies to a TLS server. The proxies are implemented in the test. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, createServer as createTlsServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { dialServer } from '../../../kubeclient/http2/dial.ts';
import { openTunnel } from '../../../kubeclient/http2/tunnel.ts';
import { Authority, type KeyPair } from '../../testing/apiserver/serving/certificates.ts';

const cleanUps: (() => unknown)[] = [];
let authority: Authority;
let pair: KeyPair;
let port = 0;

beforeAll(() => {
  authority = new Authority();
  pair = authority.issue('/CN=kube-apiserver');
});
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});
afterAll(() => authority.remove());

async function listenOn(server: Server): Promise<number> {
  server.on('connection', (socket) => {
    socket.on('error', () => {});
    cleanUps.push(() => socket.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanUps.push(() => server.close());
  // The address of a server that listens on a port is an AddressInfo.
  return (server.address() as AddressInfo).port;
}

const apiServer = async () => {
  port = await listenOn(createTlsServer({ ...pair, ALPNProtocols: ['h2'] }));
};

/** Forwards the rest of the connection to a port. */
function forward(socket: Socket, to: number): void {
  const there = connect(to, '127.0.0.1');
  there.on('error', () => socket.destroy());
  socket.pipe(there).pipe(socket);
  cleanUps.push(() => there.destroy());
}

/**
 * Returns a handler that records the first data of each connection, sends `answer`, and forwards the connection if the
 * answer is a success.
 */
function httpProxy(heads: string[], answer = 'HTTP/1.1 200 Connection established\r\n\r\n') {
  return (socket: Socket) =>
    void socket.once('data', (head) => {
      heads.push(String(head));
      socket.write(answer);
      if (answer.includes(' 200 ')) forward(socket, port);
    });
}

/**
 * Returns a handler that sends these responses to the steps of a client, and forwards the connection after the last
 * one.
 */
function socksProxy(receivedBytes: number[][], ...answers: readonly (readonly number[])[]) {
  return (socket: Socket) => {
    const left = [...answers];
    const onData = (data: Buffer) => {
      receivedBytes.push([...data]);
      socket.write(Buffer.from(left.shift() ?? []));
      if (left.length > 0) return;
      socket.off('data', onData);
      forward(socket, port);
    };
    socket.on('data', onData);
  };
}

function dialed(proxy: string) {
  const [controller, clock] = [new AbortController(), new SimulatedClock()];
  const place = { origin: `https://127.0.0.1:${port}`, isInsecure: false, proxy: new URL(proxy) };
  const context = createSecureContext({ ca: authority.cert });
  const found = dialServer(place, { context, clock, signal: controller.signal });
  found.then(
    (socket) => cleanUps.push(() => socket.destroy()),
    () => {},
  );
  return { found, controller, clock };
}

test('connects through CONNECT with a user and a password', async () => {
  await apiServer();
  const heads: string[] = [];
  const proxy = await listenOn(createServer(httpProxy(heads)));
  expect((await dialed(`http://ann:p%40ss@127.0.0.1:${proxy}`).found).alpnProtocol).toBe('h2');
  const target = `127.0.0.1:${port}`;
  const basic = Buffer.from('ann:p@ss').toString('base64');
  expect(heads).toEqual([
    `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nProxy-Authorization: Basic ${basic}\r\n\r\n`,
  ]);
});

test('connects through SOCKS5 with and without a user', async () => {
  await apiServer();
  const [low, high] = [port & 0xff, port >> 8];
  const request = [5, 1, 0, 1, 127, 0, 0, 1, high, low];
  const granted = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0];
  const receivedBytes: number[][] = [];
  const plain = await listenOn(createServer(socksProxy(receivedBytes, [5, 0], granted)));
  expect((await dialed(`socks5://127.0.0.1:${plain}`).found).authorized).toBe(true);
  expect(receivedBytes).toEqual([[5, 1, 0], request]);
  receivedBytes.length = 0;
  const byName = await listenOn(createServer(socksProxy(receivedBytes, [5, 2], [1, 0], [5, 0, 0, 3, 1, 97, 0, 0])));
  expect((await dialed(`socks5://ab:c@127.0.0.1:${byName}`).found).authorized).toBe(true);
  expect(receivedBytes).toEqual([[5, 2, 0, 2], [1, 2, 97, 98, 1, 99], request]);
});

test('a TLS proxy must have a certificate that the host trusts', async () => {
  await apiServer();
  const proxy = await listenOn(createTlsServer(pair, httpProxy([])));
  await expect(dialed(`https://127.0.0.1:${proxy}`).found).rejects.toThrow(
    `the proxy 127.0.0.1:${proxy}: unable to verify the first certificate`,
  );
});

test.each([
  [
    'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n',
    /^the proxy \S+: it answered 407 to CONNECT 127\.0\.0\.1:\d+$/,
  ],
  ['SSH-2.0-OpenSSH\r\n\r\n', /it does not speak HTTP$/],
  ['x'.repeat(20_000), /it does not speak HTTP$/],
])('an error response of an HTTP proxy is reported without the password', async (answer, said) => {
  await apiServer();
  const proxy = await listenOn(createServer(httpProxy([], answer)));
  await expect(dialed(`http://ann:SECRET@127.0.0.1:${proxy}`).found).rejects.toThrow(said);
});

test.each([
  [[[4, 0]], 'it does not speak SOCKS5'],
  [[[5, 255]], 'it requires an authentication method that is not supported'],
  [
    [
      [5, 2],
      [1, 1],
    ],
    'it refused the user name and password',
  ],
  [
    [
      [5, 0],
      [5, 5, 0, 1],
    ],
    'the connection was refused',
  ],
  [
    [
      [5, 0],
      [5, 99, 0, 1],
    ],
    'it failed with code 99',
  ],
])('a rejection by a SOCKS proxy is reported: %j', async (answers, said) => {
  await apiServer();
  const proxy = await listenOn(createServer(socksProxy([], ...answers)));
  await expect(dialed(`socks5://a:b@127.0.0.1:${proxy}`).found).rejects.toThrow(`: ${said}`);
});

test('reports a proxy that is down, closes or is silent, and rejects immediately on cancellation', async () => {
  const gone = await listenOn(createServer((socket) => socket.destroy()));
  const signal = new AbortController().signal;
  const target = { host: 'api.example', port: 443 };
  await expect(openTunnel(new URL(`http://127.0.0.1:${gone}`), target, signal)).rejects.toThrow(
    'it closed the connection',
  );
  await expect(openTunnel(new URL('http://127.0.0.1:1'), target, signal)).rejects.toThrow(
    'the proxy 127.0.0.1:1: connect ECONNREFUSED',
  );
  const mute = await listenOn(createServer((socket) => void socket.resume()));
  const { found, controller } = dialed(`http://127.0.0.1:${mute}`);
  await new Promise((done) => setTimeout(done, 50));
  controller.abort(new Error('enough'));
  await expect(found).rejects.toThrow('enough');
  const late = dialed(`socks5://127.0.0.1:${mute}`);
  const failed = expect(late.found).rejects.toThrow('no connection within 30s');
  await new Promise((done) => setTimeout(done, 50));
  await late.clock.advance(30_000);
  await failed;
});
