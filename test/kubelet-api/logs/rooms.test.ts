import { expect, test } from '@jest/globals';
import { Rooms } from '../../../kubelet-api/logs/rooms.ts';

test('what is given back is taken next', () => {
  const rooms = new Rooms(16, 2);
  const room = rooms.take();
  expect(room).toHaveLength(16);
  rooms.give(room);
  expect(rooms.take()).toBe(room);
});

test('no more are given at a time than are kept, where there is to be an end', () => {
  const rooms = new Rooms(16, 2);
  const [first] = [rooms.takeKept(), rooms.takeKept()];
  expect(rooms.takeKept()).toBeUndefined();
  if (first !== undefined) rooms.give(first);
  expect(rooms.takeKept()).toBe(first);
});

test('of many that were in use at a time, some are kept', () => {
  const rooms = new Rooms(16, 2);
  const all = Array.from({ length: 5 }, () => rooms.take());
  for (const room of all) rooms.give(room);
  const again = Array.from({ length: 5 }, () => rooms.take());
  expect(again.filter((room) => all.includes(room))).toHaveLength(2);
});
