import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { formatServerSentEvent, Viewer } from '../../../inspect/live/viewer.ts';
import { emptySnapshot, until } from '../support/served.ts';

const server = createServer();
let response: ServerResponse;
let reader: Socket;

beforeEach(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The address of a server that listens on a port is an AddressInfo.
  const { port } = server.address() as AddressInfo;
  reader = connect({ host: '127.0.0.1', port });
  reader.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  [, response] = await once(server, 'request');
});

afterEach(async () => {
  reader.destroy();
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
});

/** Returns a snapshot whose name has this size. */
const snapshotOf = (at: number, size: number) => ({
  ...emptySnapshot,
  at,
  node: { ...emptySnapshot.node, name: 'a'.repeat(size) },
});

const MIB = 2 ** 20;

/** Creates a viewer, whose clock stands still by default. */
function viewerOf(
  of: ServerResponse,
  snapshot: () => unknown,
  {
    clock = new SimulatedClock(),
    onError = () => {},
  }: { clock?: SimulatedClock; onError?: (error: unknown) => void } = {},
): Viewer {
  return new Viewer({ response: of, snapshot: () => JSON.stringify(snapshot()), clock, onError });
}

test('a viewer that does not read has a bounded queue, and gets a new snapshot once it reads again', async () => {
  let at = 0;
  const viewer = viewerOf(response, () => snapshotOf(at, 10));
  const frame = formatServerSentEvent('frame', JSON.stringify({ at: 1, filler: 'a'.repeat(2 ** 16) }));
  let most = 0;
  for (let count = 0; count < 2_000; count += 1) {
    viewer.send(frame);
    most = Math.max(most, response.writableLength);
    if (count % 100 === 0) await new Promise(setImmediate);
  }
  expect(most).toBeGreaterThan(MIB / 2);
  expect(most).toBeLessThan(2 * MIB);
  at = 2;
  let heard = '';
  reader.on('data', (part: Buffer) => {
    heard = (heard + part.toString()).slice(-MIB);
  });
  await until(() => heard.includes('event: snapshot\ndata: {"at":2'));
  viewer.send(formatServerSentEvent('frame', '{"at":3}'));
  await until(() => heard.includes('event: frame\ndata: {"at":3}'));
  // All queued frames precede the snapshot, and no frame from before it follows.
  expect(heard.slice(heard.indexOf('{"at":2')).match(/event: frame/g)).toHaveLength(1);
});

test('a snapshot larger than the queue limit is still followed by frames', async () => {
  let snapshots = 0;
  const viewer = viewerOf(response, () => {
    snapshots += 1;
    return snapshotOf(0, 4 * MIB);
  });
  for (let count = 0; count < 10; count += 1) viewer.send(formatServerSentEvent('frame', '{}'));
  let heard = 0;
  let frames = 0;
  reader.on('data', (part: Buffer) => {
    heard += part.length;
    frames += part.toString().match(/event: frame/g)?.length ?? 0;
  });
  await until(() => frames === 10);
  expect(heard).toBeGreaterThan(4 * MIB);
  expect(snapshots).toBe(1);
});

test('a viewer that has missed frames gets nothing until it has read its queue, and then a snapshot first', () => {
  const written: string[] = [];
  const connection = Object.assign(new EventEmitter(), {
    writableLength: 0,
    write: (text: string) => written.push(text.split('\n')[0] ?? ''),
  });
  // The viewer uses nothing else of the response.
  const viewer = viewerOf(connection as unknown as ServerResponse, () => emptySnapshot);
  const frame = formatServerSentEvent('frame', '{}');
  viewer.send(frame);
  connection.writableLength = 2 * MIB;
  viewer.send(frame);
  // The reader has started to read.
  connection.writableLength = 1;
  viewer.send(frame);
  expect(written).toEqual(['event: snapshot', 'event: frame']);
  connection.emit('drain');
  viewer.send(frame);
  connection.emit('drain');
  expect(written.slice(2)).toEqual(['event: snapshot', 'event: frame']);
});

test('a viewer whose new snapshot fails is disconnected, and the node is unaffected', async () => {
  const errors: unknown[] = [];
  let isBroken = false;
  const snapshot = () => {
    if (isBroken) throw new Error('broken');
    return emptySnapshot;
  };
  const viewer = viewerOf(response, snapshot, { onError: (error) => errors.push(error) });
  for (let count = 0; count < 200; count += 1) viewer.send(formatServerSentEvent('frame', `"${'a'.repeat(2 ** 16)}"`));
  isBroken = true;
  reader.resume();
  await once(reader, 'close');
  expect(errors).toEqual([new Error('broken')]);
});

test('a viewer that does not read for 30 s is disconnected, and one that reads is not', async () => {
  const clock = new SimulatedClock();
  const viewer = viewerOf(response, () => snapshotOf(0, 8 * MIB), { clock });
  expect(clock.pending).toBe(1);
  await clock.advance(29_999);
  expect(response.destroyed).toBe(false);
  reader.resume();
  await until(() => clock.pending === 0);
  await clock.advance(60_000);
  expect(response.destroyed).toBe(false);
  reader.pause();
  for (let count = 0; count < 200; count += 1) viewer.send(formatServerSentEvent('frame', `"${'a'.repeat(2 ** 16)}"`));
  await clock.advance(30_000);
  expect(response.destroyed).toBe(true);
});
