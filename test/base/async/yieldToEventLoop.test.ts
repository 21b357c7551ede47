import { stat } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { yieldToEventLoop } from '../../../base/async/yieldToEventLoop.ts';

/** Returns how many results of earlier I/O arrive before the next turn that an I/O callback waits for. */
async function arrivedBeforeTurn(): Promise<number> {
  await readFile(import.meta.filename);
  let arrived = 0;
  const answered = new Promise<void>((resolve) => {
    stat(import.meta.filename, () => {
      arrived += 1;
      resolve();
    });
  });
  // The result is ready by now, but only a poll of the event loop reports it.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  await yieldToEventLoop();
  const inTime = arrived;
  await answered;
  return inTime;
}

test('lets I/O that is ready be handled first, even if an I/O callback requests the turn', async () => {
  expect(await arrivedBeforeTurn()).toBe(1);
});
