import { expect, test } from '@jest/globals';
import type { Past } from '../../../inspect/past/past.ts';
import { createRecordedNode } from '../../../inspect/past/recordedNode.ts';

const LAST = 8.64e15;

test('a recording without a requested time shows its last one, and is not live', async () => {
  const asked: unknown[][] = [];
  const ask =
    (what: keyof Past) =>
    async (...args: readonly unknown[]) => {
      asked.push([what, ...args]);
      // The caller ignores the responses.
      return undefined as never;
    };
  let closed = 0;
  const past: Past = {
    recorded: ask('recorded'),
    moment: ask('moment'),
    story: ask('story'),
    rail: ask('rail'),
    detail: ask('detail'),
    object: ask('object'),
    actorPast: ask('actorPast'),
    entry: ask('entry'),
    actorHistory: ask('actorHistory'),
  };
  const node = createRecordedNode(past, async () => {
    closed += 1;
  });
  expect([node.live, node.acceptStately]).toEqual([undefined, undefined]);
  await Promise.all([node.moment(), node.moment(5), node.detail('a'), node.detail('a', 5), node.object('u')]);
  await Promise.all([node.actorHistory('a'), node.actorHistory('a', 5)]);
  await Promise.all([node.object('u', 5), node.story('u', 1, 2), node.rail(), node.close()]);
  expect(asked).toEqual([
    ['moment', LAST],
    ['moment', 5],
    ['detail', 'a', LAST],
    ['detail', 'a', 5],
    ['object', 'u', LAST],
    ['actorHistory', 'a', LAST],
    ['actorHistory', 'a', 5],
    ['object', 'u', 5],
    ['story', 'u', 1, 2],
    ['rail'],
  ]);
  expect(closed).toBe(1);
});
