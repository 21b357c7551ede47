/** Reads and replays the past of a node in a worker thread, because page requests must not block the node. */
import { parentPort, workerData } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { messageOf } from '../../../base/failure.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { NotInspected } from '../../inspected.ts';
import { createPast, type Past } from '../past.ts';
import { History } from '../replay/history.ts';
import type { PastResponse, PastTask, PastWorkerData } from './pastTask.ts';

// Safe cast, because only `PastThread` starts this worker.
const { path, machines, mode } = workerData as PastWorkerData;
// Decompress in this thread, because the four threads of Node's pool also serve the node.
const past = createPast(new History({ path, machines, decompress: gunzipSync }), mode);

/** The latest time that a Date can represent, which is after all recorded times. */
const MAX_DATE_MS = 8.64e15;
/** Delay in milliseconds before the warm-up, so that the page's initial requests complete before it. */
const WARM_UP_DELAY_MS = 1_000;
let isWarm = false;

parentPort?.on('message', async ({ id, method: methodName, args }: PastTask) => {
  parentPort?.postMessage(await respond(id, past[methodName], args));
  if (isWarm || methodName !== 'rail') return;
  isWarm = true;
  // Warm up after the first request for the rail, i.e. the timeline of the recording. A user who sees the rail may go
  // back in time, usually not far. Without the warm-up, the first replay would be slow, because all of its code has to
  // be compiled.
  systemClock.setTimeout(() => void past.moment(MAX_DATE_MS).catch(() => {}), WARM_UP_DELAY_MS);
});

async function respond(id: number, method: Past[keyof Past], args: readonly unknown[]): Promise<PastResponse> {
  try {
    // Safe cast, because the sender is typed so that `args` match the method.
    const methodResult = await (method as (...args: readonly unknown[]) => Promise<unknown>)(...args);
    return { id, json: JSON.stringify(methodResult ?? null) };
  } catch (error) {
    return { id, errorMessage: messageOf(error), isMissing: error instanceof NotInspected };
  }
}
