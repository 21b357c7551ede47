import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { dialServer } from '../../../kubeclient/http2/dial.ts';
import { Authority, type KeyPair } from '../../testing/apiserver/serving/certificates.ts';

let authority: Authority;
let pair: KeyPair;
const cleanUps: (() => unknown)[] = [];

beforeAll(() => {
  authority = new Authority();
  pair = authority.issue('/CN=kube-apiserver');
});
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});
afterAll(() => authority.remove());

/** Starts a server on loopback, and collects its connections. */
async function listenOn(server: Server) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  // The address of a server that listens on a port is an AddressInfo.
  return { origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}
/** Starts a server that accepts connections and reads, but never responds. */
const listenSilently = () => listenOn(createServer((socket) => socket.resume()));
const secure = (options: TlsOptions) => listenOn(createTlsServer({ ...pair, ...options }));

function dialing(origin: string, more: { readonly serverName?: string; readonly isInsecure?: boolean } = {}) {
  const [controller, clock] = [new AbortController(), new SimulatedClock()];
  const context = createSecureContext({ ca: authority.cert });
  const dialed = dialServer({ origin, isInsecure: false, ...more }, { context, clock, signal: controller.signal });
  dialed.then(
    (socket) => cleanUps.push(() => socket.destroy()),
    () => {},
  );
  return { dialed, controller, clock };
}
/** Waits for a condition in real time, because the connections are real. */
async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1_000 && !holds(); tries += 1) await new Promise((done) => setTimeout(done, 5));
  expect(holds()).toBe(true);
}

test('connects to an HTTP/2 server under its own name or a configured one', async () => {
  const { origin } = await secure({ ALPNProtocols: ['h2', 'http/1.1'] });
  expect((await dialing(origin).dialed).alpnProtocol).toBe('h2');
  expect((await dialing(origin, { serverName: 'localhost' }).dialed).authorized).toBe(true);
  await expect(dialing(origin, { serverName: 'other.example' }).dialed).rejects.toThrow(/other\.example/);
  expect((await dialing(origin, { serverName: 'other.example', isInsecure: true }).dialed).authorized).toBe(false);
});

test('reports a server that only supports HTTP/1.1, and closes the connection', async () => {
  for (const options of [{ ALPNProtocols: ['http/1.1'] }, {}]) {
    const { origin, sockets } = await secure(options);
    const said = `${origin} does not speak HTTP/2, expected an API server (a proxy before it has to speak it, too)`;
    await expect(dialing(origin).dialed).rejects.toThrow(new Error(said));
    await until(() => sockets.size === 0);
  }
});

test('reports a server without TLS', async () => {
  const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const { origin } = await listenOn(server);
  await expect(dialing(origin).dialed).rejects.toThrow(`${origin} does not speak TLS: `);
});

test('reports other OpenSSL errors without source locations', async () => {
  const { origin } = await secure({ ALPNProtocols: ['h2'], maxVersion: 'TLSv1.2', ciphers: 'NULL' });
  const { message } = await dialing(origin).dialed.then(
    () => new Error(),
    (error) => error,
  );
  expect(message).toMatch(/^TLS with https:\/\/127\.0\.0\.1:\d+ has failed: [a-z\d/ ]+$/);
});

test('dialing stops after 30 s on a silent server, and immediately if the server closes the connection', async () => {
  const { origin, sockets } = await listenSilently();
  const { dialed, clock } = dialing(origin);
  await until(() => sockets.size === 1);
  await clock.advance(29_999);
  const failed = expect(dialed).rejects.toThrow('no connection within 30s');
  await clock.advance(1);
  await failed;
  await until(() => sockets.size === 0);
  const other = dialing(origin).dialed;
  const left = expect(other).rejects.toThrow(/disconnected|closed the connection/);
  await until(() => sockets.size === 1);
  for (const socket of sockets) socket.end();
  await left;
});

test('rejects immediately on cancellation and closes the connection', async () => {
  const { origin, sockets } = await listenSilently();
  const { dialed, controller } = dialing(origin);
  await until(() => sockets.size === 1);
  controller.abort(new Error('enough'));
  await expect(dialed).rejects.toThrow('enough');
  await until(() => sockets.size === 0);
  const context = createSecureContext();
  const again = { context, clock: new SimulatedClock(), signal: controller.signal };
  await expect(dialServer({ origin, isInsecure: false }, again)).rejects.toThrow('enough');
});
