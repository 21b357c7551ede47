/** Reads manifests without holding up the event loop: small ones on it, large ones in a thread that then ends. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../clock.ts';
import { loopLimits } from './manifestLimits.ts';
import { manifestsIn, type ReadManifest, refused, type TextKind } from './manifestText.ts';
import type { ReadingNews, ReadingTask } from './manifestWorker.ts';

/** Far more than the limits leave to do: a thread that takes longer is ended. */
const READ_WITHIN_MS = 30_000;
const THREAD_MEGABYTES = 512;

/** Reads the text of a file or an answer; it never rejects. */
export type ReadManifests = (text: string, kind: TextKind) => Promise<readonly ReadManifest[]>;

/** A reader of its own thread: of large texts that come at the same time one is read after the other. */
export function createManifestReader(clock: Clock, signal: AbortSignal): ReadManifests {
  let last: Promise<unknown> = Promise.resolve();
  return async (text, kind) => {
    if (text.length <= loopLimits.characters) {
      const read = manifestsIn(text, kind, loopLimits);
      if ('manifests' in read) return read.manifests;
    }
    const read = last.then(() => readInThread({ text, kind }, clock, signal));
    last = read;
    return read;
  };
}

function readInThread(task: ReadingTask, clock: Clock, signal: AbortSignal): Promise<readonly ReadManifest[]> {
  return new Promise((resolve) => {
    const manifests: ReadManifest[] = [];
    const worker = new Worker(workerFile(), { resourceLimits: { maxOldGenerationSizeMb: THREAD_MEGABYTES } });
    const end = (read: readonly ReadManifest[]) => {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      resolve(read);
      worker.terminate().catch(() => {});
    };
    const fail = (why: string) => end(refused(`cannot be read: ${why}`).manifests);
    const giveUp = () => fail('the node stops');
    const timer = clock.setTimeout(() => fail(`it takes longer than ${READ_WITHIN_MS / 1_000} s`), READ_WITHIN_MS);
    worker.on('message', (news: ReadingNews) => {
      if ('done' in news) end(manifests);
      else manifests.push(news.manifest);
    });
    worker.on('error', (error) => fail(error instanceof Error ? error.message : String(error)));
    worker.on('exit', () => fail('the thread that read it has ended'));
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    else worker.postMessage(task);
  });
}

/** Beside the sources, or beside the bundle that was made of them. */
function workerFile(): string {
  const source = join(import.meta.dirname, 'manifestWorker.ts');
  if (existsSync(source)) return source;
  const name = 'manifestWorker.mjs';
  const beside = join(import.meta.dirname, name);
  // The bundle's parts lie one directory below it.
  return existsSync(beside) ? beside : join(dirname(import.meta.dirname), name);
}

/** Lets whoever else waits for the event loop have a turn. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
