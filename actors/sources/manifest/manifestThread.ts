import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/failure.ts';
import { nextTurn } from '../../../base/nextTurn.ts';
import { errorCode, isDiskFault, isHostRefusal } from '../../../host/files/fileErrors.ts';
import { scriptPath } from '../../../host/ownScript.ts';
import { type ManifestText, type ReadManifest, refused } from './manifestText.ts';
import type { ReadingNews, ReadingTask } from './manifestWorker.ts';

/** Far more than the limits leave to do: a thread that takes longer is ended. */
const READ_WITHIN_MS = 30_000;
/** Far more than the largest answer within the limits needs. */
const THREAD_MEGABYTES = 320;

/** A text needs more memory than the thread may have. */
class TooMuch extends Error {
  override readonly name = 'TooMuch';
}

/** A thread that reads one text after the other, until one is too much for it or it is ended. */
export class ManifestThread {
  readonly #worker: Worker;
  readonly #clock: Clock;
  readonly #megabytes: number;
  #hasStarted = false;
  #hasEnded = false;

  /** `script` is the program of the thread, by default that of manifests. */
  constructor(
    clock: Clock,
    megabytes = THREAD_MEGABYTES,
    script: string | URL = scriptPath(import.meta.dirname, 'manifestWorker'),
  ) {
    this.#clock = clock;
    this.#megabytes = megabytes;
    this.#worker = new Worker(script, { resourceLimits: { maxOldGenerationSizeMb: megabytes } });
    // A thread that is online has not loaded its modules yet, which needs file descriptors.
    this.#worker.once('message', () => {
      this.#hasStarted = true;
    });
    this.#worker.once('exit', () => {
      this.#hasEnded = true;
    });
    // Whoever waits for a text hears of it.
    this.#worker.on('error', () => {});
  }

  /** Whether it can be given another text. */
  get isAlive(): boolean {
    return !this.#hasEnded;
  }

  /**
   * Reads a text. A text that is too much for the thread is refused as one that is wrong. Rejects if no thread can start, if
   * the host refuses it something, and if reading takes too long: within the limits that is the host's fault, so the text is
   * worth another attempt.
   */
  async read(text: ManifestText): Promise<readonly ReadManifest[]> {
    const late = new AbortController();
    const timer = this.#clock.setTimeout(() => late.abort(), READ_WITHIN_MS);
    const manifests: ReadManifest[] = [];
    try {
      for (let task: ReadingTask = text; ; task = 'more') {
        const some = await this.#ask(task, late.signal);
        if (some.length === 0) return manifests;
        for (const each of some) {
          // The thread is of the same program, and JSON keeps all that a pod is made of.
          manifests.push(JSON.parse(each) as ReadManifest);
        }
        await nextTurn();
      }
    } catch (error) {
      this.end();
      if (late.signal.aborted || isHostRefusal(error) || isDiskFault(error)) throw error;
      if (!this.#hasStarted && !(error instanceof TooMuch))
        throw new Error(`cannot start a thread to read it: ${messageOf(error)}`, { cause: error });
      return refused(`cannot be read: ${messageOf(error)}`).manifests;
    } finally {
      this.#clock.clearTimeout(timer);
    }
  }

  end(): void {
    this.#hasEnded = true;
    this.#worker.terminate().catch(() => {});
  }

  get #tooMuch(): string {
    return `reading it takes more than ${this.#megabytes} MiB of memory`;
  }

  #ask(task: ReadingTask, late: AbortSignal): Promise<ReadingNews> {
    const worker = this.#worker;
    const done = new AbortController();
    return new Promise<ReadingNews>((resolve, reject) => {
      const hear = (event: string, then: (value: unknown) => void) => {
        worker.once(event, then);
        done.signal.addEventListener('abort', () => worker.off(event, then));
      };
      // Nobody else posts to this thread's port.
      hear('message', (some) => resolve(some as ReadingNews));
      hear('error', (error) => reject(isOutOfMemory(error) ? new TooMuch(this.#tooMuch, { cause: error }) : error));
      hear('exit', () => reject(new Error('the thread reading it exited')));
      const tooLate = () => reject(new Error(`reading it takes longer than ${READ_WITHIN_MS / 1_000} s`));
      late.addEventListener('abort', tooLate, { signal: done.signal });
      if (late.aborted) tooLate();
      worker.postMessage(task);
    }).finally(() => done.abort());
  }
}

const isOutOfMemory = (error: unknown): boolean => errorCode(error) === 'ERR_WORKER_OUT_OF_MEMORY';
