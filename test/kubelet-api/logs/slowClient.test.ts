import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { begin, line, servedLogs } from './servedLogs.ts';

const MOST = 64 * 1_024;
/** Number of lines, more than the socket buffers of the kernel can hold. */
const LINES = 100_000;

test('a slow client uses no more memory than a part of the log', async () => {
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
  // The response continues when the client reads again.
  let length = 0;
  for await (const chunk of answers[0] ?? []) length += chunk.length;
  expect(length).toBe(LINES * 201);
});
