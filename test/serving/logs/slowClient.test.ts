import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { writeAll } from '../../../serving/logs/writeAll.ts';
import { begin, line, servedLogs } from './servedLogs.ts';

const MOST = 64 * 1_024;
/** More than the sockets of the kernel hold. */
const LINES = 100_000;

test('a client that reads slowly costs no more than a part of the log', async () => {
  const served = await servedLogs();
  await served.write(line(0, 'x'.repeat(200)).repeat(LINES));
  const responses: ServerResponse[] = [];
  served.server.on('request', (_, response) => responses.push(response));
  const path = '/containerLogs/default/web/main';
  const answers = await Promise.all(Array.from({ length: 5 }, () => begin(served.port, path)));
  for (const answer of answers) answer.pause();
  const written = () => responses.map(({ socket }) => socket?.bytesWritten ?? 0);
  for (let [before, now] = [[-1], written()]; `${before}` !== `${now}`; now = written()) {
    before = now;
    await wait(200);
  }
  for (const response of responses) {
    expect(response.writableLength + (response.socket?.writableLength ?? 0)).toBeLessThanOrEqual(MOST);
    expect(response.writableEnded).toBe(false);
  }
  // It goes on when it is read on.
  let length = 0;
  for await (const chunk of answers[0] ?? []) length += chunk.length;
  expect(length).toBe(LINES * 201);
});

test('the next chunk is made once the one before has left, or never when the client has gone', async () => {
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
  // Nothing else of a response is used.
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
