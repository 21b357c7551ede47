import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/failure.ts';
import { nextTurn } from '../../../base/nextTurn.ts';
import { errorCode, isDiskFault, isHostRefusal } from '../../../host/files/fileErrors.ts';
import { scriptPath } from '../../../host/ownScript.ts';
import { type ManifestText, type ReadManifest, rejectedText } from './manifestText.ts';
import type { ReadingNews, ReadingTask } from './manifestWorker.ts';

/** Timeout of the thread, far longer than a text within the limits needs. */
const READ_TIMEOUT_MS = 30_000;
/** Heap limit of the thread, far more than the largest response within the limits needs. */
const THREAD_MEMORY_MIB = 320;

/** Thrown if a text needs more memory than the thread may use. */
class OutOfMemory extends Error {
  override readonly name = 'OutOfMemory';
}

/** A worker thread that parses texts sequentially, until it is terminated or runs out of memory. */
export class ManifestThread {
  readonly #worker: Worker;
  readonly #clock: Clock;
  readonly #memoryMiB: number;
  #hasStarted = false;
  #hasExited = false;

  /** `script` is the thread's module. Tests replace it. */
  constructor(
    clock: Clock,
    memoryMiB = THREAD_MEMORY_MIB,
    script: string | URL = scriptPath(import.meta.dirname, 'manifestWorker'),
  ) {
    this.#clock = clock;
    this.#memoryMiB = memoryMiB;
    this.#worker = new Worker(script, { resourceLimits: { maxOldGenerationSizeMb: memoryMiB } });
    // The `online` event comes before the thread has loaded its modules, which needs file descriptors.
    this.#worker.once('message', () => {
      this.#hasStarted = true;
    });
    this.#worker.once('exit', () => {
      this.#hasExited = true;
    });
    // The caller of `read` receives the error.
    this.#worker.on('error', () => {});
  }

  /** Whether the thread accepts another text. */
  get isAlive(): boolean {
    return !this.#hasExited;
  }

  /**
   * Reads a text. A text that exceeds the thread's memory is rejected like an invalid one. Rejects if the thread cannot
   * start, the host refuses a resource, or reading times out. For a text within the limits, a timeout is caused by the
   * host, so another attempt may succeed.
   */
  async read(text: ManifestText): Promise<readonly ReadManifest[]> {
    const timeout = new AbortController();
    const timer = this.#clock.setTimeout(() => timeout.abort(), READ_TIMEOUT_MS);
    const manifests: ReadManifest[] = [];
    try {
      for (let task: ReadingTask = text; ; task = 'more') {
        const batch = await this.#request(task, timeout.signal);
        if (batch.length === 0) return manifests;
        for (const json of batch) {
          // Safe cast: the thread runs the same program, and JSON preserves all fields of a manifest.
          manifests.push(JSON.parse(json) as ReadManifest);
        }
        await nextTurn();
      }
    } catch (error) {
      this.terminate();
      if (timeout.signal.aborted || isHostRefusal(error) || isDiskFault(error)) throw error;
      if (!this.#hasStarted && !(error instanceof OutOfMemory))
        throw new Error(`cannot start a thread to read it: ${messageOf(error)}`, { cause: error });
      return rejectedText(`cannot be read: ${messageOf(error)}`).manifests;
    } finally {
      this.#clock.clearTimeout(timer);
    }
  }

  terminate(): void {
    this.#hasExited = true;
    this.#worker.terminate().catch(() => {});
  }

  get #outOfMemoryMessage(): string {
    return `reading it takes more than ${this.#memoryMiB} MiB of memory`;
  }

  #request(task: ReadingTask, timeout: AbortSignal): Promise<ReadingNews> {
    const worker = this.#worker;
    const done = new AbortController();
    return new Promise<ReadingNews>((resolve, reject) => {
      const listen = (event: string, listener: (value: unknown) => void) => {
        worker.once(event, listener);
        done.signal.addEventListener('abort', () => worker.off(event, listener));
      };
      // Safe cast: only `manifestWorker` posts messages to this port.
      listen('message', (batch) => resolve(batch as ReadingNews));
      listen('error', (error) =>
        reject(isOutOfMemory(error) ? new OutOfMemory(this.#outOfMemoryMessage, { cause: error }) : error),
      );
      listen('exit', () => reject(new Error('the thread reading it exited')));
      const onTimeout = () => reject(new Error(`reading it takes longer than ${READ_TIMEOUT_MS / 1_000} s`));
      timeout.addEventListener('abort', onTimeout, { signal: done.signal });
      if (timeout.aborted) onTimeout();
      worker.postMessage(task);
    }).finally(() => done.abort());
  }
}

const isOutOfMemory = (error: unknown): boolean => errorCode(error) === 'ERR_WORKER_OUT_OF_MEMORY';
