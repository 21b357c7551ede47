/** Records V8 profiles of this process in the formats of Chrome's developer tools. Imported on first use. */
import { Session } from 'node:inspector/promises';
import type { Readable } from 'node:stream';
import { getHeapSnapshot } from 'node:v8';

/** Minimum sampling interval of the CPU profiler, in microseconds. */
const MIN_INTERVAL_MICROS = 1_000;
/** Maximum number of samples in a recording. A long recording uses a longer sampling interval to stay below it. */
const MAX_SAMPLES = 60_000;

/** Average number of allocated bytes per sample. */
const SAMPLING_INTERVAL_BYTES = 32 * 1_024;

/** Records until `wait` settles, i.e. for about `ms` milliseconds. Rejects if `wait` rejects. */
export type RecordProfile = (wait: () => Promise<void>, ms: number) => Promise<object>;

/** Records CPU time as a `.cpuprofile`. */
export const recordCpuProfile: RecordProfile = (wait, ms) =>
  runInSession(async (session) => {
    await session.post('Profiler.enable');
    const samplingIntervalMicros = Math.max(MIN_INTERVAL_MICROS, Math.ceil((ms * 1_000) / MAX_SAMPLES));
    await session.post('Profiler.setSamplingInterval', { interval: samplingIntervalMicros });
    await session.post('Profiler.start');
    return (await stopAfter(wait, () => session.post('Profiler.stop'))).profile;
  });

/** Records live allocations as a `.heapprofile`. */
export const recordAllocations: RecordProfile = (wait) =>
  runInSession(async (session) => {
    await session.post('HeapProfiler.startSampling', { samplingInterval: SAMPLING_INTERVAL_BYTES });
    return (await stopAfter(wait, () => session.post('HeapProfiler.stopSampling'))).profile;
  });

/** Stops the profiler even if `wait` rejects, in which case the profile is discarded. */
async function stopAfter<T>(wait: () => Promise<void>, stop: () => Promise<T>): Promise<T> {
  try {
    await wait();
  } catch (error) {
    await stop();
    throw error;
  }
  return await stop();
}

async function runInSession<T>(work: (session: Session) => Promise<T>): Promise<T> {
  const session = new Session();
  session.connect();
  try {
    return await work(session);
  } finally {
    session.disconnect();
  }
}

/** Streams a snapshot of the heap as a `.heapsnapshot`. The process is blocked while V8 takes it. */
export async function takeHeapSnapshot(consumeSnapshot: (snapshot: Readable) => Promise<void>): Promise<void> {
  try {
    await consumeSnapshot(getHeapSnapshot());
  } finally {
    await discardSnapshots();
  }
}

/**
 * Releases the snapshot. Otherwise V8 would track object IDs for the next snapshot and retain the last one until a
 * garbage collection.
 */
const discardSnapshots = () =>
  runInSession(async (session) => {
    await session.post('HeapProfiler.enable');
    await session.post('HeapProfiler.collectGarbage');
    await session.post('HeapProfiler.disable');
  });
