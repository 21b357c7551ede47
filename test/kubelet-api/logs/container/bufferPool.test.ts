import { expect, test } from '@jest/globals';
import { BufferPool } from '../../../../kubelet-api/logs/container/bufferPool.ts';

test('a released buffer is used next', () => {
  const rooms = new BufferPool(16, 2);
  const room = rooms.take();
  expect(room).toHaveLength(16);
  rooms.release(room);
  expect(rooms.take()).toBe(room);
});

test('a bounded request returns a buffer only while fewer than the pool size are in use', () => {
  const rooms = new BufferPool(16, 2);
  const [first] = [rooms.takeIfAvailable(), rooms.takeIfAvailable()];
  expect(rooms.takeIfAvailable()).toBeUndefined();
  if (first !== undefined) rooms.release(first);
  expect(rooms.takeIfAvailable()).toBe(first);
});

test('after many concurrent buffers only the pool size is retained', () => {
  const rooms = new BufferPool(16, 2);
  const all = Array.from({ length: 5 }, () => rooms.take());
  for (const room of all) rooms.release(room);
  const again = Array.from({ length: 5 }, () => rooms.take());
  expect(again.filter((room) => all.includes(room))).toHaveLength(2);
});
