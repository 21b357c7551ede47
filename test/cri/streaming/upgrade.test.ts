import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import { dialSpdy } from '../../../cri/streaming/upgrade.ts';
import { streamingServer } from '../../fakes/streamingServer.ts';

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const dial = (url: string, { protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'], limitMs = 30_000 } = {}) =>
  dialSpdy(new URL(url), { protocols, timeoutMs: limitMs, signal: new AbortController().signal });

async function served(behaviour: Parameters<typeof streamingServer>[0]) {
  const server = await streamingServer(behaviour);
  ends.push(server.close);
  return server;
}

test("the request is a POST, and the server selects the client's preferred protocol that it supports", async () => {
  const { url, asked } = await served({ protocols: ['v2.channel.k8s.io', 'v4.channel.k8s.io'] });
  const { connection, protocol } = await dial(url);
  expect([protocol, asked]).toEqual(['v4.channel.k8s.io', ['POST /exec/token']]);
  await connection.ping();
  connection.close();
});

test('a server without a common protocol refuses and lists its own', async () => {
  const { url } = await served({});
  await expect(dial(url, { protocols: ['v9'] })).rejects.toThrow(
    'the streaming server of the runtime cannot be used: 403 Forbidden: unable to upgrade: unable to negotiate protocol: client supports [v9], server accepts [v4.channel.k8s.io]',
  );
});

test("an expired token is reported with the server's message", async () => {
  const { url } = await served({
    refuse: (_, response) => response.writeHead(404).end('404 page not found\n'),
  });
  await expect(dial(url)).rejects.toMatchObject({
    reason: 'StreamFailed',
    message: 'the streaming server of the runtime cannot be used: 404 Not Found: 404 page not found',
  });
});

test('a server that is down or does not respond fails the call', async () => {
  const { url, close } = await streamingServer({});
  await close();
  await expect(dial(url)).rejects.toThrow('ECONNREFUSED');
  const silent = await served({ refuse: () => {} });
  await expect(dial(silent.url, { limitMs: 50 })).rejects.toThrow('it has not answered within 0.05 s');
});

test('a cancelled call is reported as cancelled', async () => {
  const { url } = await served({ refuse: () => {} });
  const controller = new AbortController();
  const dialled = dialSpdy(new URL(url), { protocols: ['v4'], timeoutMs: 30_000, signal: controller.signal });
  controller.abort();
  await expect(dialled).rejects.toMatchObject({ reason: 'Cancelled' });
});

test.each([
  ['another upgrade', 'Upgrade: websocket', '400 Bad Request', 'unable to upgrade: expected SPDY/3.1'],
  ['no protocol', 'Upgrade: SPDY/3.1', '400 Bad Request', 'unable to upgrade: X-Stream-Protocol-Version is required'],
  [
    'no protocol that is known',
    'Upgrade: spdy/3.1\r\nX-Stream-Protocol-Version: a, b',
    '403 Forbidden',
    'unable to upgrade: unable to negotiate protocol: client supports [a b], server accepts [v4.channel.k8s.io]',
  ],
])('a client that requests %s is rejected', async (_, header, status, message) => {
  const { url } = await served({});
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(`POST /exec/token HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n${header}\r\n\r\n`);
  const answer = await text(socket);
  expect(answer.split('\r\n')[0]).toBe(`HTTP/1.1 ${status}`);
  expect(answer.split('\r\n\r\n')[1]).toBe(`${message}\n`);
});
