/** Reads manifests without holding up the event loop: small ones on it, large ones in a thread. */
import type { Clock } from '../../../base/clock.ts';
import { loopLimits } from './manifestLimits.ts';
import { type ManifestText, manifestsIn, type ReadManifest } from './manifestText.ts';
import { ManifestThread } from './manifestThread.ts';

/** Large texts often come together, and a thread takes as long to start as to read one; an idle one costs memory. */
const KEPT_MS = 5_000;

/** Reads the text of a file or an answer; it rejects where no thread can be started or one takes too long. */
export type ReadManifests = (text: ManifestText) => Promise<readonly ReadManifest[]>;

/** Starts what reads large texts. */
export type StartThread = (clock: Clock) => Pick<ManifestThread, 'read' | 'isAlive' | 'end'>;

export interface ReaderOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Starts a thread; absent: a real one. */
  readonly startThread?: StartThread | undefined;
}

/** A reader with one thread at most, that lives from the first large text until some seconds after the last. */
export function createManifestReader({
  clock,
  signal,
  startThread = () => new ManifestThread(clock),
}: ReaderOptions): ReadManifests {
  let thread: ReturnType<StartThread> | undefined;
  let idle: unknown;
  let last: Promise<unknown> = Promise.resolve();
  const end = () => {
    clock.clearTimeout(idle);
    thread?.end();
    thread = undefined;
  };
  signal.addEventListener('abort', end, { once: true });

  const readInThread = async (text: ManifestText) => {
    signal.throwIfAborted();
    clock.clearTimeout(idle);
    thread = thread?.isAlive ? thread : startThread(clock);
    try {
      return await thread.read(text);
    } finally {
      if (!signal.aborted) idle = clock.setTimeout(end, KEPT_MS);
    }
  };

  return async (text) => {
    if (text.text.length <= loopLimits.characters) {
      const read = manifestsIn(text, loopLimits);
      if ('manifests' in read) return [...read.manifests];
    }
    const reading = last.then(() => readInThread(text));
    last = reading.catch(() => {});
    return reading;
  };
}
