/** A client against a server, over a pair of sockets or of streams in memory. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { afterEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FrameReader } from '../../../cri/streaming/frameReader.ts';
import { encodeFrame, type Frame } from '../../../cri/streaming/frames.ts';
import { headerCompressor } from '../../../cri/streaming/headerCodec.ts';
import { MAX_STREAMS, SpdyConnection } from '../../../cri/streaming/spdyConnection.ts';
import type { SpdyStream } from '../../../cri/streaming/spdyStream.ts';
import { eventually } from '../../e2e/support/eventually.ts';

const connections: SpdyConnection[] = [];
const ends: (() => unknown)[] = [];

afterEach(() => {
  for (const connection of connections.splice(0)) connection.close();
  for (const end of ends.splice(0)) end();
});

function spdy(...made: ConstructorParameters<typeof SpdyConnection>): SpdyConnection {
  const connection = new SpdyConnection(...made);
  connections.push(connection);
  return connection;
}

/** Returns both sides of a connection, with this handler for streams of the server. */
function pair(onStream: (stream: SpdyStream) => void, [near, far] = duplexPair()) {
  return { client: spdy(near, { role: 'client' }), server: spdy(far, { role: 'server', onStream }) };
}

async function sockets(): Promise<[Duplex, Duplex]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The address of a server that listens on a port is an AddressInfo.
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [far] = await once(server, 'connection');
  ends.push(() => [near, far].map((each) => each.destroy()));
  server.close();
  return [near, far];
}

/** Returns a peer that sends arbitrary frames and records those that it receives. */
function rawPeer(role: 'client' | 'server' = 'client', onStream?: (stream: SpdyStream) => void) {
  const [near, far] = duplexPair();
  const got: Frame[] = [];
  const reader = new FrameReader();
  far.on('data', (chunk) => got.push(...reader.read(chunk)));
  far.on('error', () => {});
  const connection = spdy(near, { role, ...(onStream ? { onStream } : {}) });
  return { connection, got, send: (...frames: Frame[]) => frames.map((frame) => far.write(encodeFrame(frame))), far };
}

const type = (name: string) => new Map([['streamtype', name]]);
const synStream = async (streamId: number, compressor = headerCompressor()): Promise<Frame> => ({
  ...({ type: 'synStream', streamId, associatedId: 0, priority: 0, fin: false, unidirectional: false } as const),
  block: await compressor.convert(type('stdin')),
});

test('data written to a stream arrives at the other side, and each direction ends separately', async () => {
  const { client } = pair(async (stream) => {
    const received = await text(stream);
    stream.end(`${stream.headers.get('streamtype')}: ${received}`);
  });
  const [one, other] = await Promise.all([client.open(type('stdin')), client.open(type('data'))]);
  one.write('Hel');
  other.end('bye');
  one.end('lo');
  expect(await Promise.all([text(one), text(other)])).toEqual(['stdin: Hello', 'data: bye']);
});

test('data on any number of streams arrives in order over real sockets', async () => {
  const writes = fc.array(fc.tuple(fc.nat(3), fc.uint8Array({ maxLength: 3_000 })), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(writes, async (all) => {
      const { client } = pair((stream) => stream.pipe(stream), await sockets());
      const streams = await Promise.all([0, 1, 2, 3].map((each) => client.open(type(`s${each}`))));
      const echoed = Promise.all(streams.map(async (stream) => Buffer.concat(await stream.toArray())));
      for (const [index, data] of all) streams[index]?.write(data);
      for (const stream of streams) stream.end();
      const sent = streams.map((_, index) => Buffer.concat(all.flatMap(([at, data]) => (at === index ? [data] : []))));
      expect(await echoed).toEqual(sent);
      client.close();
    }),
    { numRuns: 20 },
  );
});

test('an unread stream blocks its writer and buffers a bounded amount', async () => {
  let written = 0;
  const part = Buffer.alloc(16 * 1024);
  const total = 50 * 1024 * 1024;
  const { client } = pair(
    (stream) => {
      const more = () => {
        while (written < total) {
          written += part.length;
          if (!stream.write(part)) return void stream.once('drain', more);
        }
        stream.end();
      };
      more();
    },
    await sockets(),
  );
  const stream = await client.open(type('stdout'));
  let before = -1;
  await eventually('nothing more is written', () => {
    const isStill = written > 0 && written === before;
    before = written;
    return isStill;
  });
  expect(written).toBeLessThan(total / 2);
  expect(stream.readableLength).toBeLessThan(256 * 1024);
  let read = 0;
  for await (const chunk of stream) read += chunk.length;
  expect(read).toBe(total);
});

test('a ping is answered while streams are open, and fails if the connection closes', async () => {
  const { client, server } = pair(() => {});
  await client.ping();
  await Promise.all([server.ping(), client.ping(), client.ping()]);
  const { connection } = rawPeer();
  const asked = connection.ping();
  connection.close();
  await expect(asked).rejects.toMatchObject({ reason: 'StreamFailed' });
});

test('closing a connection resets its streams, and the peer can read the data sent before', async () => {
  let accepted: SpdyStream | undefined;
  const { client, server } = pair((stream) => {
    accepted = stream;
    stream.write('last words');
  });
  const stream = await client.open(type('error'));
  await once(stream, 'readable');
  server.close();
  expect(await text(stream)).toBe('last words');
  expect(await client.closePromise).toBeUndefined();
  expect(accepted?.destroyed).toBe(true);
  await expect(client.open(type('late'))).rejects.toThrow('the streaming connection has ended');
});

test('data written to a stream that the peer has reset is dropped', async () => {
  const { client } = pair((stream) => stream.destroy());
  const stream = await client.open(type('stdin'));
  expect(await text(stream)).toBe('');
  stream.end('too late');
  await finished(stream);
  await client.ping();
});

test('a stream that the peer refuses is not opened', async () => {
  const { client } = pair(() => {});
  const [near, far] = duplexPair();
  spdy(far, { role: 'server' });
  await expect(spdy(near, { role: 'client' }).open(type('stdin'))).rejects.toThrow('refused with the status 3');
  const streams = Array.from({ length: MAX_STREAMS }, () => client.open(type('stdin')));
  await Promise.all(streams);
  await expect(client.open(type('one more'))).rejects.toThrow('refused with the status 3');
});

test('frames for missing streams are ignored, and after GOAWAY new streams are refused', async () => {
  const { connection, send, got } = rawPeer();
  send(
    { type: 'data', streamId: 7, fin: true, data: Buffer.from('x') },
    { type: 'rstStream', streamId: 9, status: 1 },
    { type: 'windowUpdate', streamId: 9, delta: 1 },
    { type: 'settings', clear: false, entries: [{ id: 7, flags: 0, value: 1 }] },
    { type: 'goAway', lastStreamId: 0, status: 0 },
    { type: 'ping', id: 2 },
  );
  await eventually('its ping is answered', () => got.some((frame) => frame.type === 'ping' && frame.id === 2));
  await expect(connection.open(type('x'))).rejects.toThrow('the streaming connection has ended');
});

test.each<[string, readonly Frame[], string]>([
  ['a stream of a number of ours', [await synStream(2)], 'a stream has the number 2'],
  ['a stream twice', await twice(3), 'a stream has the number 3, which it cannot have behind 3'],
  [
    'headers that are none',
    [{ type: 'headers', streamId: 1, fin: false, block: Buffer.from('junk') }],
    'cannot be decompressed',
  ],
])('%s closes the connection with the reason', async (_, frames, message) => {
  const { connection, send, got } = rawPeer('server', () => {});
  send(...frames);
  const error = await connection.closePromise;
  expect(error).toMatchObject({ reason: 'StreamFailed', message: expect.stringContaining(message) });
  await eventually('it is told', () => got.some((frame) => frame.type === 'goAway' && frame.status === 1));
});

async function twice(streamId: number): Promise<Frame[]> {
  const compressor = headerCompressor();
  return [await synStream(streamId, compressor), await synStream(streamId, compressor)];
}

test('a connection that breaks within a frame closes with an error and ends its streams', async () => {
  const { connection, far, got } = rawPeer();
  const opening = connection.open(type('stdout'));
  await eventually('it is asked for', () => got.length > 0);
  far.end(Buffer.from('8003', 'hex'));
  await expect(opening).rejects.toThrow('the streaming connection has ended');
  expect(await connection.closePromise).toMatchObject({
    message: expect.stringContaining('it broke off within a frame'),
  });
});

test('a socket error closes the connection with that error', async () => {
  const [near] = await sockets();
  const connection = spdy(near, { role: 'client' });
  near.destroy(new Error('the cable is out'));
  expect(await connection.closePromise).toMatchObject({
    message: 'the streaming connection has ended: the cable is out',
  });
});

test('any input either leaves the connection open or closes it with a specific error', async () => {
  const valid = await synStream(1);
  const junk = fc.oneof(
    fc.uint8Array({ maxLength: 64 }),
    fc.uint8Array({ maxLength: 16 }).map((more) => Buffer.concat([Buffer.from('800300', 'hex'), more])),
    fc.constant(encodeFrame(valid)),
    fc.tuple(fc.nat(30), fc.nat(255)).map(([at, value]) => {
      const changed = encodeFrame(valid);
      changed[at % changed.length] = value;
      return changed;
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(junk, { maxLength: 5 }), async (parts) => {
      const { connection, far } = rawPeer('server', (stream) => stream.resume());
      for (const part of parts) far.write(part);
      far.end();
      const error = await connection.closePromise;
      if (error) expect(error).toMatchObject({ reason: 'StreamFailed' });
    }),
  );
});
