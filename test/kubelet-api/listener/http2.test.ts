/** Tests the node's server over HTTP/2, which behaves like Go's `net/http`. */
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectSecurely } from 'node:tls';
import { describe, expect, jest, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { systemClock } from '../../../base/time/clock.ts';
import type { Exchange } from '../../../kubelet-api/exchange.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { atEnd, authority, byCertificate, client, echo, listening, other, route } from './support/listening.ts';

jest.setTimeout(60_000);

const masters = () => ({ admit: byCertificate });

async function session(port: number, options: object = {}): Promise<ClientHttp2Session> {
  const opened = connect(`https://localhost:${port}`, { ca: authority.cert, ...options });
  atEnd(() => opened.destroy());
  opened.on('error', () => {});
  await once(opened, 'remoteSettings');
  return opened;
}

const sent = (from: ClientHttp2Session, path = '/pods', headers: object = {}): ClientHttp2Stream =>
  from.request({ ':path': path, ...headers }).on('error', () => {});

/** Returns the response, even if the server then resets the stream because the request has not ended. */
async function answered(stream: ClientHttp2Stream): Promise<{ readonly code: number; readonly body: string }> {
  let body = '';
  stream.on('data', (chunk) => {
    body += String(chunk);
  });
  const ended = once(stream, 'end');
  const [headers] = await once(stream, 'response');
  await ended;
  return { code: headers[':status'], body };
}

const closed = (stream: ClientHttp2Stream): Promise<void> =>
  new Promise((resolve) => void stream.once('close', () => resolve()));

/** Creates a route that never responds, and counts its open requests. */
function pending() {
  const counts = { open: 0 };
  const never = route('/pods', async ({ signal }) => {
    counts.open += 1;
    if (!signal.aborted) await once(signal, 'abort');
    counts.open -= 1;
  });
  return { counts, never };
}

test('C38: identifies the client of every request by the certificate of the connection', async () => {
  const { port } = await listening({ access: masters });
  const known = await session(port, client);
  expect(await Promise.all([answered(sent(known)), answered(sent(known, '/pods?x=1'))])).toEqual([
    { code: 200, body: 'kubectl /pods' },
    { code: 200, body: 'kubectl /pods?x=1' },
  ]);
  expect(await answered(sent(await session(port)))).toEqual({ code: 401, body: 'Unauthorized' });
});

test('C39: HTTP/2 requests are redirected and rejected as over HTTP/1.1', async () => {
  const { port } = await listening({ access: masters });
  const known = await session(port, client);
  expect(await answered(sent(known, '/none'))).toEqual({ code: 404, body: '404 page not found\n' });
  const redirected = sent(known, '/a/..//pods');
  const [headers] = await once(redirected, 'response');
  expect([headers[':status'], headers.location]).toEqual([307, '/pods']);
  expect((await answered(sent(known, '/pods', { ':method': 'OPTIONS' }))).code).toBe(405);
});

/** Records the types and flags of the frames that the server sends on each stream. */
async function recordedSession(port: number) {
  const raw = connectSecurely({ port, host: 'localhost', ca: authority.cert, ALPNProtocols: ['h2'] });
  await once(raw, 'secureConnect');
  let bytes = Buffer.alloc(0);
  const socket = new Duplex({ read: () => {}, write: (chunk, _, done) => void raw.write(chunk, done) });
  raw.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    socket.push(chunk);
  });
  const framesOf = (stream: number) => {
    const frames: { readonly type: number; readonly flags: number }[] = [];
    for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
      if (bytes.readUInt32BE(at + 5) === stream) frames.push({ type: bytes[at + 3] ?? 0, flags: bytes[at + 4] ?? 0 });
    }
    return frames;
  };
  const opened = await session(port, { createConnection: () => socket });
  atEnd(() => raw.destroy());
  return { opened, framesOf };
}

const RST_STREAM = 3;
const END_STREAM = 1;

test('C38: a response ends with END_STREAM, and only a stream with an unfinished request is reset, after that', async () => {
  const { port } = await listening({ routes: [echo('/run')] });
  const { opened, framesOf } = await recordedSession(port);
  const whole = sent(opened, '/run/ns/pod/main');
  await answered(whole);
  const unread = sent(opened, '/run/ns/pod/main', { ':method': 'POST' });
  unread.write('the rest never comes');
  await answered(unread);
  await eventually('it is closed', () => unread.closed);
  const [ofWhole, ofUnread] = [framesOf(Number(whole.id)), framesOf(Number(unread.id))];
  expect(ofWhole.at(-1)?.flags).toBe(END_STREAM);
  expect(ofWhole.map(({ type }) => type)).not.toContain(RST_STREAM);
  expect(ofUnread.at(-1)?.type).toBe(RST_STREAM);
  expect(ofUnread.at(-2)?.flags).toBe(END_STREAM);
});

test('an HTTP/2 connection carries 250 concurrent requests', async () => {
  const { counts, never } = pending();
  const { port } = await listening({ routes: [never] });
  const one = await session(port);
  expect(one.remoteSettings.maxConcurrentStreams).toBe(250);
  const streams = Array.from({ length: 260 }, () => sent(one));
  await eventually('250 are open', () => counts.open === 250);
  await pause(100);
  expect(counts.open).toBe(250);
  for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
  await eventually('all are over', () => counts.open === 0);
});

test('an HTTP/2 connection announces a header limit of one mebibyte and rejects more', async () => {
  const { port } = await listening();
  const one = await session(port, { maxSendHeaderBlockLength: 2 ** 22 });
  expect(one.remoteSettings.maxHeaderListSize).toBe(1 << 20);
  expect((await answered(sent(one, '/pods', { 'x-large': 'a'.repeat(60_000) }))).code).toBe(200);
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`x-large-${at}`, 'a'.repeat(60_000)]));
  const refused = sent(one, '/pods', many);
  await closed(refused);
  expect(refused.rstCode).not.toBe(constants.NGHTTP2_NO_ERROR);
});

describe('a slow client', () => {
  test('with an unneeded body gets its response, and the stream is closed', async () => {
    const { port } = await listening({ routes: [echo('/run')] });
    const one = await session(port);
    const stream = sent(one, '/run/ns/pod/main', { ':method': 'POST' });
    stream.write('the rest never comes');
    expect(await answered(stream)).toEqual({ code: 200, body: 'anybody /run/ns/pod/main' });
    await eventually('it is closed', () => stream.closed);
    expect((await answered(sent(one, '/run/ns/pod/main', { ':method': 'POST' }).end())).code).toBe(200);
  });

  test('between two requests is disconnected after 90 s, however often it pings, but not during a request', async () => {
    const clock = new SimulatedClock();
    const { counts, never } = pending();
    const { port } = await listening({ clock, routes: [never, echo('/healthz')] });
    const [idle, busy] = [await session(port), await session(port)];
    await answered(sent(idle, '/healthz'));
    const stream = sent(busy);
    await eventually('it is open', () => counts.open === 1);
    await clock.advance(89_000);
    await new Promise((resolve) => idle.ping(resolve));
    expect([idle.closed, busy.closed]).toEqual([false, false]);
    await clock.advance(2_000);
    await eventually('it is disconnected', () => idle.destroyed);
    expect(busy.closed).toBe(false);
    stream.close(constants.NGHTTP2_CANCEL);
    await eventually('it is over', () => counts.open === 0);
    await clock.advance(91_000);
    await eventually('the other one is disconnected, too', () => busy.destroyed);
  });

  test('that reads slowly uses little memory, and its request ends when it disconnects', async () => {
    const ends: string[] = [];
    let produced = 0;
    const flood = route('/pods', async ({ response, signal }: Exchange) => {
      signal.addEventListener('abort', () => ends.push('aborted'));
      const chunks = function* () {
        for (;;) {
          produced += 65_536;
          yield Buffer.alloc(65_536);
        }
      };
      await pipeline(Readable.from(chunks()), response, { signal }).catch(() => {});
    });
    const { port } = await listening({ routes: [flood] });
    const one = await session(port);
    sent(one).pause();
    let before = -1;
    await eventually('it stands still', () => {
      const isStill = produced > 0 && produced === before;
      before = produced;
      return isStill;
    });
    expect(produced).toBeLessThan(4 * 2 ** 20);
    one.destroy();
    await eventually('it has ended', () => ends.length > 0);
  });

  test('gets four hours for a response', async () => {
    const timers: { readonly fire: () => void; readonly ms: number }[] = [];
    const clock = {
      ...systemClock,
      setTimeout: (fire: () => void, ms: number) => timers.push({ fire, ms }),
      clearTimeout: () => {},
    };
    const { counts, never } = pending();
    const { port } = await listening({ clock, routes: [never] });
    const stream = sent(await session(port));
    await eventually('it is open', () => counts.open === 1);
    expect(stream.closed).toBe(false);
    timers.find(({ ms }) => ms === 4 * 60 * 60_000)?.fire();
    await eventually('it is over', () => counts.open === 0 && stream.closed);
  });
});

test('an upgrade is rejected, because HTTP/2 has none', async () => {
  const { port } = await listening({
    routes: [route('/pods', async ({ upgrade, response }) => void response.end(String(upgrade)))],
  });
  const one = await session(port);
  const stream = sent(one, '/pods', { ':method': 'CONNECT', ':authority': 'localhost', ':path': undefined });
  expect((await answered(stream)).code).toBe(405);
  expect(await answered(sent(one))).toEqual({ code: 200, body: 'undefined' });
});

test('C38: clients are disconnected after their requests once the client authorities have changed', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow = route('/pods', async ({ response }) => {
    await held;
    response.end('done');
  });
  const { port, layAuthority, checkFilesNow } = await listening({ routes: [slow, echo('/healthz')] });
  const [idle, busy] = [await session(port, client), await session(port, client)];
  const answer = answered(sent(busy));
  await answered(sent(busy, '/healthz'));
  layAuthority(other.cert);
  await checkFilesNow();
  await eventually('the idle one is gone', () => idle.destroyed);
  await eventually('the busy one takes no more', () => busy.closed);
  expect(busy.destroyed).toBe(false);
  release();
  expect(await answer).toEqual({ code: 200, body: 'done' });
  await eventually('the busy one is gone', () => busy.destroyed);
});

test('closing the server ends its requests', async () => {
  const { counts, never } = pending();
  const { port, close } = await listening({ routes: [never] });
  const [idle, busy] = [await session(port), await session(port)];
  sent(busy);
  await eventually('it is open', () => counts.open === 1);
  await close();
  await eventually('both are gone', () => idle.destroyed && busy.destroyed);
  expect(counts.open).toBe(0);
});
