import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import type { WebSocket } from 'ws';
import type { StatelyEvent } from '../../../inspect/stately/stately.ts';
import { StatelyFollower } from '../../../inspect/stately/statelyFollower.ts';
import { until } from '../support/served.ts';

/** Returns a socket that completes a write only when the test says so. */
function slowSocket() {
  const sent: string[] = [];
  const ends: unknown[] = [];
  const waiting: (() => void)[] = [];
  const socket = Object.assign(new EventEmitter(), {
    OPEN: 1,
    readyState: 1,
    send: (text: string, taken?: () => void) => {
      sent.push(text);
      if (taken) waiting.push(taken);
    },
    close: (code: number) => {
      socket.readyState = 2;
      ends.push(code);
    },
    terminate: () => ends.push('terminated'),
    ping: () => {},
  });
  const take = () => waiting.splice(0).map((taken) => taken());
  // The follower uses nothing else of the socket.
  return { socket: socket as unknown as WebSocket & EventEmitter, sent, ends, take };
}

/** Returns actors of 50 kB each. */
const actors = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: String(index),
    definition: 'x'.repeat(50_000),
  })) as unknown[] as StatelyEvent[];

test('the actors are sent in slices, in order, and later events after them', async () => {
  const { socket, sent, take } = slowSocket();
  const follower = new StatelyFollower(socket, actors(100));
  follower.send('"event"');
  await new Promise(setImmediate);
  expect(sent.length).toBeLessThan(10);
  await until(() => {
    take();
    return sent.length === 101;
  });
  expect(sent.slice(0, 100).map((text) => JSON.parse(text).name)).toEqual(actors(100).map((_, index) => String(index)));
  expect(sent.at(-1)).toBe('"event"');
});

test('a client that does not read is disconnected, and its queue is dropped', async () => {
  const { socket, sent, ends, take } = slowSocket();
  const follower = new StatelyFollower(socket, actors(100));
  const before = sent.length;
  for (let count = 0; count < 1_000; count += 1) follower.send('x'.repeat(10_000));
  expect(ends).toEqual([1013]);
  take();
  await new Promise(setImmediate);
  expect(sent).toHaveLength(before);
});

test('a client that does not answer a ping before the next one is disconnected at once', () => {
  const { socket, ends } = slowSocket();
  const follower = new StatelyFollower(socket, []);
  follower.ping();
  socket.emit('pong');
  follower.ping();
  expect(ends).toEqual([]);
  follower.ping();
  expect(ends).toEqual(['terminated']);
});
