/** Limits of the page's server for clients that only occupy connections. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { afterEach, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';
import { servePage } from '../../inspect/servePage.ts';
import { Authority } from '../../testing/apiserver/serving/authority.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { afterReset, openSockets, resetAfterRequest } from '../host/support/resettingClients.ts';
import { emptySnapshot, fakeInspected, fakeLive, sendBytes, servedPage, until, upgradeOf } from './support/served.ts';

const connections: Socket[] = [];

afterEach(() => {
  for (const connection of connections.splice(0)) connection.destroy();
});

async function openConnection(port: number, allowHalfOpen = false, localAddress = '127.0.0.1'): Promise<Socket> {
  const connection = connect({ host: '127.0.0.1', port, allowHalfOpen, localAddress });
  // The server may close the connection at any time.
  connection.on('error', () => {});
  connections.push(connection);
  await once(connection, 'connect');
  return connection;
}

const requestBytes = (port: number, path: string) => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`;

test('the page server accepts at most 64 connections', async () => {
  const { port, get } = await servedPage();
  // 32 connections from each of two addresses, which is the limit per address.
  const addresses = Array.from({ length: 64 }, (_, index) => (index % 2 === 0 ? '127.0.0.2' : '127.0.0.3'));
  const all = await Promise.all(addresses.map((address) => openConnection(port, false, address)));
  const [first, last] = [all[0], all.at(-1)];
  last?.write(requestBytes(port, '/api/rail'));
  if (last) await once(last, 'data');
  const more = await openConnection(port);
  await once(more, 'close');
  first?.destroy();
  let code = 0;
  await until(() => {
    if (code === 0)
      get('/api/rail')
        .then((answer) => (code = answer.code))
        .catch(() => {});
    return code === 200;
  });
});

test('a client that does not send its whole request in time is disconnected', async () => {
  const { port } = await servedPage({ requestTimeoutMs: 200 });
  const client = await openConnection(port);
  client.resume().write('GET / HTTP/1.1\r\nhost: ');
  await once(client, 'close');
});

test('an unread response closes its connection after 30 s, and a stream continues', async () => {
  const clock = new SimulatedClock();
  const live = fakeLive();
  live.shown = { ...emptySnapshot, node: { ...emptySnapshot.node, name: 'a'.repeat(16 * 2 ** 20) } };
  const { port } = await servedPage({ inspected: fakeInspected(live), clock });
  const [unread, read] = await Promise.all([openConnection(port), openConnection(port)]);
  unread?.write(requestBytes(port, '/api/snapshot'));
  await until(() => clock.pending === 1);
  live.shown = emptySnapshot;
  await clock.advance(1_000);
  read?.write(requestBytes(port, '/api/stream'));
  await once(read ?? unread, 'data');
  const ended = once(unread ?? read, 'close');
  await clock.advance(29_000);
  unread?.resume();
  await ended;
  expect(unread?.bytesRead).toBeLessThan(16 * 2 ** 20);
  expect([clock.pending, live.followers.size, read?.closed]).toEqual([0, 1, false]);
});

test('a rejected upgrade closes its connection, even if the client continues', async () => {
  const { port } = await servedPage();
  const connection = await openConnection(port, true);
  connection.write(upgradeOf(port, '/nothing'));
  connection.resume();
  await once(connection, 'end');
  let error: unknown;
  connection.on('error', (thrown) => {
    error = thrown;
  });
  await until(() => {
    connection.write('x');
    return error !== undefined;
  });
});

test('the page server closes at once even while its node is being opened, and can be closed twice', async () => {
  let isAsked = false;
  const page = await servePage({
    address: { host: '127.0.0.1', port: 0 },
    directory: '/',
    token: undefined,
    openInspectedNode: () => {
      isAsked = true;
      return new Promise(() => {});
    },
  });
  const port = Number(new URL(page.url).port);
  const answer = sendBytes(port, requestBytes(port, '/'));
  await until(() => isAsked);
  await page.close();
  expect(await answer).toBe('');
  await page.close();
});

test('descriptors of clients that reset a request before its response are released within 10 s', async () => {
  const inspected = { ...fakeInspected(), rail: async () => afterReset() as never };
  const pair = new Authority().issue({ name: 'page', groups: [] });
  const { port } = await servedPage({ inspected, tls: { cert: Buffer.from(pair.cert), key: Buffer.from(pair.key) } });
  const before = openSockets();
  // Send at most 32 requests at a time, because that is the limit of connections per address.
  for (let times = 0; times < 5; times += 1)
    await resetAfterRequest(port, 20, `GET /api/rail HTTP/1.1\r\nHost: 127.0.0.1:${port}`);
  await eventually('they are released', () => openSockets() <= before, 10_000);
}, 60_000);

test('a client cannot renegotiate TLS', async () => {
  const pair = new Authority().issue({ name: 'page', groups: [] });
  const { port } = await servedPage({ tls: { cert: Buffer.from(pair.cert), key: Buffer.from(pair.key) } });
  const socket = connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false, maxVersion: 'TLSv1.2' });
  connections.push(socket);
  await once(socket, 'secureConnect');
  const failed = once(socket, 'error');
  socket.renegotiate({ rejectUnauthorized: false }, () => {});
  expect(String(await failed)).toMatch(/no renegotiation/);
});
