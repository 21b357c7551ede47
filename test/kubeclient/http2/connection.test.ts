/** A connection over a socket of the test. The tests of the transport use real sockets. */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { Connection } from '../../../kubeclient/http2/connection.ts';

/** Returns a stream that accepts one write, never completes it, and delivers nothing. */
const stuck = () => new Duplex({ read: () => {}, write: () => {} });
const GET = { method: 'GET', path: '/', headers: {} };

function createConnection(socket: Duplex) {
  let left = 0;
  const connection = new Connection({
    origin: 'https://192.0.2.1',
    // HTTP/2 works over any bidirectional stream of bytes.
    socket: socket as Socket,
    clock: new SimulatedClock(),
    onUnusable: () => {
      left += 1;
    },
  });
  return { connection, leaves: () => left };
}

test('a cancelled request rejects immediately, although nothing can be written to the server', async () => {
  const { connection } = createConnection(stuck());
  const controller = new AbortController();
  const asked = connection.send(GET, controller.signal);
  await new Promise((done) => setTimeout(done, 50));
  controller.abort(new Error('enough'));
  await expect(asked).rejects.toThrow('enough');
  // The stream of the aborted request is free again.
  await new Promise((done) => setTimeout(done, 50));
  expect([connection.isIdle, connection.freeStreams]).toEqual([true, 100]);
  connection.close();
});

test('a closed connection rejects further requests with the reason, and closes its socket', async () => {
  const socket = stuck();
  const { connection, leaves } = createConnection(socket);
  connection.close(new Error('given up'));
  expect(() => connection.send(GET, new AbortController().signal)).toThrow('given up');
  await new Promise((done) => setTimeout(done, 50));
  expect([socket.destroyed, leaves(), connection.freeStreams]).toEqual([true, 1, 0]);
});
