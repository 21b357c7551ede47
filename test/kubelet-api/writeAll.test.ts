import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { writeAll } from '../../kubelet-api/writeAll.ts';

test('the next chunk is generated once the previous one has been sent, or never if the client has disconnected', async () => {
  const [gone, made] = [new AbortController(), [] as number[]];
  let leaves = () => {};
  const write = (_: Buffer, left: () => void) => {
    leaves = left;
  };
  async function* chunks() {
    try {
      for (const size of [1, 2, 3]) {
        made.push(size);
        yield Buffer.alloc(size);
      }
    } finally {
      made.push(-1);
    }
  }
  // Safe cast: nothing else of the response is used.
  const done = writeAll({ write } as unknown as ServerResponse, chunks(), gone.signal);
  await wait(10);
  expect(made).toEqual([1]);
  leaves();
  await wait(10);
  expect(made).toEqual([1, 2]);
  gone.abort();
  expect(await done).toBe(3);
  expect(made.at(-1)).toBe(-1);
});
