import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { joinStreams } from '../../../kubelet-api/streaming/join.ts';

/** Maximum number of bytes that Node.js reads from a socket at a time. */
const READ_BYTES = 64 * 1024;

const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Returns the two ends of a connection over loopback. */
async function pair(): Promise<readonly [near: Socket, far: Socket]> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // Safe cast: a server that listens on a port has such an address.
  const { port } = server.address() as AddressInfo;
  const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const [near]: Socket[] = await once(server, 'connection');
  server.close();
  if (near === undefined) throw new Error('there is no connection');
  for (const each of [near, far]) each.on('error', () => {});
  ends.push(
    () => near.destroy(),
    () => far.destroy(),
  );
  return [near, far];
}

async function joinedPairs(signal = new AbortController().signal) {
  const clock = new SimulatedClock();
  const [near, client] = await pair();
  const [nearRuntime, runtime] = await pair();
  const over = joinStreams(near, nearRuntime, { clock, signal });
  return { clock, client, near, runtime, over };
}

test('C41: the end of the client input is passed to the runtime, which may still respond', async () => {
  const { client, runtime, over } = await joinedPairs();
  client.end('asked');
  expect(await text(runtime)).toBe('asked');
  runtime.end('answered');
  expect(await text(client)).toBe('answered');
  await over;
});

test('a runtime that does not close after its client is disconnected after a while', async () => {
  const { client, runtime, clock, over } = await joinedPairs();
  client.end();
  runtime.resume();
  await once(runtime, 'end');
  const closed = once(client.resume(), 'close');
  await clock.advance(30_000);
  await Promise.all([over, closed]);
});

test('a closed client does not need the response any more', async () => {
  const { client, runtime, over, near } = await joinedPairs();
  const received = text(runtime);
  client.end('asked');
  near.end();
  client.resume();
  expect(await received).toBe('asked');
  await over;
});

test('the last bytes of the runtime reach a slow client', async () => {
  const { client, runtime, over } = await joinedPairs();
  runtime.end(Buffer.alloc(20 * 1024 * 1024, 'x'));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect((await buffer(client)).length).toBe(20 * 1024 * 1024);
  client.end();
  await over;
});

test('C41: a client that resets its connection closes the side of the runtime at once', async () => {
  const { client, runtime, over } = await joinedPairs();
  const ended = once(runtime.resume(), 'end');
  client.resetAndDestroy();
  await Promise.all([over, ended]);
});

test('the signal disconnects both sides', async () => {
  const gone = new AbortController();
  const { client, runtime, over } = await joinedPairs(gone.signal);
  client.resume();
  runtime.resume();
  gone.abort();
  await over;
});

test('a reader that is slow blocks its writer', async () => {
  const { client, runtime, near } = await joinedPairs();
  runtime.pause();
  const part = Buffer.alloc(1024 * 1024);
  for (let sent = 0; sent < 64; sent++) client.write(part);
  await new Promise((resolve) => setTimeout(resolve, 500));
  // At most, the node buffers what a socket may hold and the read that has filled it. The rest remains in the kernel
  // and the client.
  expect(client.writableLength).toBeGreaterThan(0);
  expect(near.readableLength).toBeLessThan(near.readableHighWaterMark + READ_BYTES);
});
