/**
 * Reads manifests without blocking the event loop. Small manifests are parsed on the event loop, large ones in a
 * thread.
 */
import type { Clock } from '../../../base/time/clock.ts';
import { loopLimits } from './manifestLimits.ts';
import { type ManifestText, parseManifests, type ReadManifest } from './manifestText.ts';
import { ManifestThread } from './manifestThread.ts';

/**
 * Time after which an idle thread is terminated in order to free its memory. It is not shorter, because large files
 * often arrive together, and starting a thread takes as long as parsing one of them.
 */
const IDLE_TIMEOUT_MS = 5_000;

/** Parses the content of a file or a response. Rejects if no thread can be started or the thread times out. */
export type ReadManifests = (text: ManifestText) => Promise<readonly ReadManifest[]>;

/** Starts a thread that parses large content. */
export type StartThread = (clock: Clock) => Pick<ManifestThread, 'read' | 'isAlive' | 'terminate'>;

export interface ReaderOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Defaults to starting a worker thread. */
  readonly startThread?: StartThread | undefined;
}

/**
 * Creates a reader that uses at most one thread. The thread is started for a large file or response and terminated a
 * few seconds after the last large one.
 */
export function createManifestReader({
  clock,
  signal,
  startThread = () => new ManifestThread(clock),
}: ReaderOptions): ReadManifests {
  let readerThread: ReturnType<StartThread> | undefined;
  let idleTimer: unknown;
  let previousRead: Promise<unknown> = Promise.resolve();
  const terminateThread = () => {
    clock.clearTimeout(idleTimer);
    readerThread?.terminate();
    readerThread = undefined;
  };
  signal.addEventListener('abort', terminateThread, { once: true });

  const readInThread = async (text: ManifestText) => {
    signal.throwIfAborted();
    clock.clearTimeout(idleTimer);
    readerThread = readerThread?.isAlive ? readerThread : startThread(clock);
    try {
      return await readerThread.read(text);
    } finally {
      if (!signal.aborted) idleTimer = clock.setTimeout(terminateThread, IDLE_TIMEOUT_MS);
    }
  };

  return async (text) => {
    if (text.text.length <= loopLimits.characters) {
      const parsedManifests = parseManifests(text, loopLimits);
      if ('manifests' in parsedManifests) return [...parsedManifests.manifests];
    }
    const manifests = previousRead.then(() => readInThread(text));
    previousRead = manifests.catch(() => {});
    return manifests;
  };
}
