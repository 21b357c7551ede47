import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { connect as connectSecure } from 'node:tls';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { clientKey, connectionLimit, guardConnections } from '../../host/connectionGuard.ts';
import { Authority } from '../../testing/apiserver/serving/authority.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { afterReset, openSockets, resetAfterRequest } from './support/resettingClients.ts';

jest.setTimeout(60_000);

const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close());
  // The address of a server that listens on a port is an AddressInfo.
  return (server.address() as AddressInfo).port;
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  ends.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

test('releases within 10 s the connections of clients that reset them before an asynchronous response', async () => {
  const before = openSockets();
  const server = createTlsServer(new Authority().issue({ name: 'node', groups: [] }), async (_, response) => {
    await afterReset();
    response.writeHead(401, { 'content-length': 12 }).end('Unauthorized');
  });
  guardConnections(server, { maxConnections: 1_000 });
  const port = await listening(server);
  await resetAfterRequest(port, 200, 'GET /pods HTTP/1.1\r\nHost: node');
  await eventually('only the listener is left', () => openSockets() <= before + 1, 10_000);
});

test('releases a connection that is reset while nothing reads it', async () => {
  const accepted: Socket[] = [];
  const server = createServer({ pauseOnConnect: true }, (socket) => void accepted.push(socket.on('error', () => {})));
  guardConnections(server, { maxConnections: 10 });
  const client = await connected(await listening(server));
  await eventually('it is accepted', () => accepted.length === 1);
  client.resetAndDestroy();
  await eventually('it is released', () => accepted[0]?.destroyed, 10_000);
});

test('a connection whose client has only stopped sending or is silent is left alone', async () => {
  const server = createServer({ allowHalfOpen: true }, (socket) => void socket.on('error', () => {}).resume());
  guardConnections(server, { maxConnections: 10 });
  const port = await listening(server);
  const silent = await connected(port);
  const halfClosed = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
  ends.push(() => halfClosed.destroy());
  halfClosed.end();
  await pause(10_000);
  expect([silent.destroyed, halfClosed.destroyed, halfClosed.readableEnded]).toEqual([false, false, false]);
});

/** Returns the fields of the `/proc/net/tcp` row for a connection between two loopback ports. */
function kernelRow(localPort: number, remotePort: number): readonly string[] | undefined {
  const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  return rows
    .map((row) => row.trim().split(/\s+/))
    .find(
      ([, local = '', remote = '']) => local.endsWith(`:${hex(localPort)}`) && remote.endsWith(`:${hex(remotePort)}`),
    );
}

test('preserves the data of a connection that both sides have closed for a slow reader', async () => {
  const server = createServer({ allowHalfOpen: true }, (socket) => void socket.on('error', () => {}).end());
  guardConnections(server, { maxConnections: 10 });
  const accepted = once(server, 'connection');
  const client = connect(await listening(server), '127.0.0.1').on('error', () => {});
  client.resume().end('last words');
  const [socket] = await accepted;
  await once(socket, 'readable');
  await pause(10_000);
  expect(String(socket.read())).toBe('last words');
});

test('preserves the data of a reset connection while a slow reader consumes it, and discards it 36 s later', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  ends.push(() => jest.useRealTimers());
  const server = createServer({ allowHalfOpen: true }, (socket) => void socket.on('error', () => {}).end());
  guardConnections(server, { maxConnections: 10 });
  const accepted = once(server, 'connection');
  const client = connect(await listening(server), '127.0.0.1').on('error', () => {});
  client.resume().end('last words');
  const [socket] = await accepted;
  await Promise.all([once(socket, 'readable'), once(client, 'close')]);
  for (let read = 0; read < 4; read += 1) {
    expect(socket.read(1)).not.toBeNull();
    jest.advanceTimersByTime(20_000);
  }
  expect(socket.destroyed).toBe(false);
  jest.advanceTimersByTime(16_000);
  expect(socket.destroyed).toBe(true);
});

test('preserves the data of a reset connection over TLS while a slow reader consumes it, and discards it 36 s later', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  ends.push(() => jest.useRealTimers());
  const server = createTlsServer(new Authority().issue({ name: 'node', groups: [] }));
  guardConnections(server, { maxConnections: 10 });
  const upgraded = once(server, 'upgrade');
  const port = await listening(server);
  const connection = connect(port, '127.0.0.1').on('error', () => {});
  const client = connectSecure({ socket: connection, rejectUnauthorized: false }).on('error', () => {});
  await once(client, 'secureConnect');
  client.write('GET /exec HTTP/1.1\r\nHost: node\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
  const [, socket] = await upgraded;
  socket.on('error', () => {});
  // More than the server and the kernel buffer for a reader that does not read.
  client.write(Buffer.alloc(16 * 1024 * 1024));
  await once(socket, 'readable');
  connection.resetAndDestroy();
  await once(connection, 'close');
  for (let read = 0; read < 4; read += 1) {
    expect(socket.read(1)).not.toBeNull();
    jest.advanceTimersByTime(20_000);
    await turn();
  }
  expect(socket.destroyed).toBe(false);
  jest.advanceTimersByTime(16_000);
  await turn();
  expect(socket.destroyed).toBe(true);
});

test('C41: the kernel probes silent clients within 150 s', async () => {
  const server = createServer((socket) => void socket.on('error', () => {}));
  guardConnections(server, { maxConnections: 10 });
  const port = await listening(server);
  const client = await connected(port);
  const KEEP_ALIVE_TIMER = '02';
  const [kind, remaining = ''] = await eventually('the timer runs', () => {
    const timer = kernelRow(port, client.localPort ?? 0)?.[5]?.split(':');
    return timer?.[0] === KEEP_ALIVE_TIMER && timer;
  });
  const seconds = Number.parseInt(remaining, 16) / 100;
  expect(kind).toBe(KEEP_ALIVE_TIMER);
  expect(seconds).toBeGreaterThan(100);
  expect(seconds).toBeLessThan(150);
});

test('one address gets at most its share of the connections, and the share is freed when they are closed', async () => {
  const server = createServer();
  guardConnections(server, { maxConnections: 10, maxPerAddress: 2 });
  server.on('connection', (socket) => void socket.on('error', () => {}).write('hello'));
  const port = await listening(server);
  const isServed = async (socket: Socket) => {
    await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    return socket.bytesRead > 0;
  };
  const first = await connected(port);
  expect([await isServed(first), await isServed(await connected(port))]).toEqual([true, true]);
  expect(await isServed(await connected(port))).toBe(false);
  first.destroy();
  await eventually('there is room again', async () => isServed(await connected(port)));
});

describe('the key of a client', () => {
  test.each([
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::1', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
  ])('is derived from %s as %s', (address, client) => {
    expect(clientKey(address)).toBe(client);
  });
});

test('connections use at most half of the descriptors of the process', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'limits-')), 'limits');
  const limitsAre = (soft: string) =>
    writeFileSync(file, `Max open files            ${soft}                 4096       files\n`);
  limitsAre('1024');
  expect(connectionLimit(10_000, file)).toBe(512);
  limitsAre('1048576');
  expect(connectionLimit(10_000, file)).toBe(10_000);
  limitsAre('unlimited');
  expect(connectionLimit(10_000, file)).toBe(10_000);
  expect(connectionLimit(10_000, `${file}.missing`)).toBe(10_000);
});
