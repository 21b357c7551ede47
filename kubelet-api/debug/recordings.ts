/** What V8 records of this process, as the developer tools of Chrome open it. Loaded when somebody asks for it. */
import { Session } from 'node:inspector/promises';
import type { Readable } from 'node:stream';
import { getHeapSnapshot } from 'node:v8';

/** As often, in microseconds, the stack is looked at; over a long time less often, so that there are only so many samples. */
const SAMPLE_MICROS = 1_000;
const MOST_SAMPLES = 60_000;

/** One of so many bytes is looked at when it is allocated. */
const ALLOCATED_BYTES = 32 * 1_024;

/** Records until `wait` has ended, of which it is known about how long, in milliseconds, it takes; rejects as that does. */
export type Recording = (wait: () => Promise<void>, ms: number) => Promise<object>;

/** Where the time goes: a `.cpuprofile`. */
export const cpuProfile: Recording = (wait, ms) =>
  inSession(async (session) => {
    await session.post('Profiler.enable');
    const interval = Math.max(SAMPLE_MICROS, Math.ceil((ms * 1_000) / MOST_SAMPLES));
    await session.post('Profiler.setSamplingInterval', { interval });
    await session.post('Profiler.start');
    return (await ended(wait, () => session.post('Profiler.stop'))).profile;
  });

/** What is allocated meanwhile and still there: a `.heapprofile`. */
export const allocations: Recording = (wait) =>
  inSession(async (session) => {
    await session.post('HeapProfiler.startSampling', { samplingInterval: ALLOCATED_BYTES });
    return (await ended(wait, () => session.post('HeapProfiler.stopSampling'))).profile;
  });

/** Stops it also where nobody waits any more: what was recorded so far is let go of. */
async function ended<T>(wait: () => Promise<void>, stop: () => Promise<T>): Promise<T> {
  try {
    await wait();
  } catch (error) {
    await stop();
    throw error;
  }
  return await stop();
}

async function inSession<T>(work: (session: Session) => Promise<T>): Promise<T> {
  const session = new Session();
  session.connect();
  try {
    return await work(session);
  } finally {
    session.disconnect();
  }
}

/**
 * Gives all that is on the heap, and what holds it: a `.heapsnapshot`, read piece by piece. The process stands still while
 * it is taken.
 */
export async function heapSnapshot(use: (snapshot: Readable) => Promise<void>): Promise<void> {
  try {
    await use(getHeapSnapshot());
  } finally {
    await forgetSnapshots();
  }
}

/** V8 goes on numbering all objects for the next snapshot, and keeps this one until it is collected. */
const forgetSnapshots = () =>
  inSession(async (session) => {
    await session.post('HeapProfiler.enable');
    await session.post('HeapProfiler.collectGarbage');
    await session.post('HeapProfiler.disable');
  });
