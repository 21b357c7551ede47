import { expect, test } from '@jest/globals';
import { BufferPool } from '../../../../kubelet-api/logs/container/bufferPool.ts';

test('what is given back is taken next', () => {
  const rooms = new BufferPool(16, 2);
  const room = rooms.take();
  expect(room).toHaveLength(16);
  rooms.release(room);
  expect(rooms.take()).toBe(room);
});

test('no more are given at a time than are kept, where there is to be an end', () => {
  const rooms = new BufferPool(16, 2);
  const [first] = [rooms.takeIfAvailable(), rooms.takeIfAvailable()];
  expect(rooms.takeIfAvailable()).toBeUndefined();
  if (first !== undefined) rooms.release(first);
  expect(rooms.takeIfAvailable()).toBe(first);
});

test('of many that were in use at a time, some are kept', () => {
  const rooms = new BufferPool(16, 2);
  const all = Array.from({ length: 5 }, () => rooms.take());
  for (const room of all) rooms.release(room);
  const again = Array.from({ length: 5 }, () => rooms.take());
  expect(again.filter((room) => all.includes(room))).toHaveLength(2);
});
