/** The thread that reads and plays the past of a node: the node itself is not held up by whoever looks at it. */
import { parentPort, workerData } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { systemClock } from '../base/clock.ts';
import { messageOf } from '../base/failure.ts';
import { History } from './history.ts';
import { NotInspected } from './inspected.ts';
import { type Past, pastOf } from './past.ts';
import type { PastData, PastNews, PastTask } from './pastTask.ts';

// Nobody else starts this thread.
const { path, machines, mode } = workerData as PastData;
// In this thread: those that Node.js has for all of the process, four, are the node's.
const past = pastOf(new History({ path, machines, expand: gunzipSync }), mode);

/** After all moments. */
const LAST = 8.64e15;
/** What a page asks for first is answered by then. */
const IDLE_MS = 1_000;
let isWarm = false;

parentPort?.on('message', async ({ id, ask, args }: PastTask) => {
  parentPort?.postMessage(await answer(id, past[ask], args));
  if (isWarm || ask !== 'rail') return;
  isWarm = true;
  // Whoever looks at the rail may go back, most likely not far: the first one would wait for all of this code to be compiled.
  systemClock.setTimeout(() => void past.moment(LAST).catch(() => {}), IDLE_MS);
});

async function answer(id: number, question: Past[keyof Past], args: readonly unknown[]): Promise<PastNews> {
  try {
    // They are those of the question, as the other side has typed them.
    const answered = await (question as (...given: readonly unknown[]) => Promise<unknown>)(...args);
    return { id, json: JSON.stringify(answered ?? null) };
  } catch (error) {
    return { id, failed: messageOf(error), isMissing: error instanceof NotInspected };
  }
}
