import { Worker } from 'node:worker_threads';
import { yieldToEventLoop } from '../../../base/async/yieldToEventLoop.ts';
import { messageOf } from '../../../base/failure.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { errorCode, isDiskFault, isResourceShortage } from '../../../host/files/fileErrors.ts';
import { scriptPath } from '../../../host/scriptPath.ts';
import { createRejectedText, type ManifestText, type ReadManifest } from './manifestText.ts';
import type { ManifestBatch, ReadingTask } from './manifestWorker.ts';

/** Timeout of the thread. Content within the limits needs far less time. */
const READ_TIMEOUT_MS = 30_000;
/** Heap limit of the thread. The largest response within the limits needs far less memory. */
const THREAD_MEMORY_MIB = 320;

/** Thrown if content needs more memory than the thread may use. */
class OutOfMemory extends Error {
  override readonly name = 'OutOfMemory';
}

/** A worker thread that parses manifests sequentially, until it is terminated or runs out of memory. */
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
    // Wait for the first message and not for `online`, because `online` is emitted before the thread has loaded its
    // modules, which may fail for lack of file descriptors.
    this.#worker.once('message', () => {
      this.#hasStarted = true;
    });
    this.#worker.once('exit', () => {
      this.#hasExited = true;
    });
    // Prevents an uncaught exception. The caller of `read` receives the error.
    this.#worker.on('error', () => {});
  }

  /** Whether the thread can still parse manifests. */
  get isAlive(): boolean {
    return !this.#hasExited;
  }

  /**
   * Parses the content of a file or response. Content that exceeds the thread's memory is rejected like invalid
   * content. Rejects if the thread cannot start, the host is out of resources, or parsing times out. For content within
   * the limits, a timeout is caused by the host, so another attempt may succeed.
   */
  async read(text: ManifestText): Promise<readonly ReadManifest[]> {
    const timeoutController = new AbortController();
    const timer = this.#clock.setTimeout(() => timeoutController.abort(), READ_TIMEOUT_MS);
    const manifests: ReadManifest[] = [];
    try {
      for (let task: ReadingTask = text; ; task = 'more') {
        const batch = await this.#request(task, timeoutController.signal);
        if (batch.length === 0) return manifests;
        for (const json of batch) {
          // Safe cast: the thread runs the same program, and JSON preserves all fields of a manifest.
          manifests.push(JSON.parse(json) as ReadManifest);
        }
        await yieldToEventLoop();
      }
    } catch (error) {
      this.terminate();
      if (timeoutController.signal.aborted || isResourceShortage(error) || isDiskFault(error)) throw error;
      if (!this.#hasStarted && !(error instanceof OutOfMemory))
        throw new Error(`cannot start a thread to read it: ${messageOf(error)}`, { cause: error });
      return createRejectedText(`cannot be read: ${messageOf(error)}`).manifests;
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

  #request(task: ReadingTask, timeout: AbortSignal): Promise<ManifestBatch> {
    const workerThread = this.#worker;
    const completion = new AbortController();
    return new Promise<ManifestBatch>((resolve, reject) => {
      const listenOnce = (event: string, listener: (value: unknown) => void) => {
        workerThread.once(event, listener);
        completion.signal.addEventListener('abort', () => workerThread.off(event, listener));
      };
      // Safe cast: only `manifestWorker` posts messages to this port.
      listenOnce('message', (batch) => resolve(batch as ManifestBatch));
      listenOnce('error', (error) =>
        reject(isOutOfMemory(error) ? new OutOfMemory(this.#outOfMemoryMessage, { cause: error }) : error),
      );
      listenOnce('exit', () => reject(new Error('the thread reading it exited')));
      const onTimeout = () => reject(new Error(`reading it takes longer than ${READ_TIMEOUT_MS / 1_000} s`));
      timeout.addEventListener('abort', onTimeout, { signal: completion.signal });
      if (timeout.aborted) onTimeout();
      workerThread.postMessage(task);
    }).finally(() => completion.abort());
  }
}

const isOutOfMemory = (error: unknown): boolean => errorCode(error) === 'ERR_WORKER_OUT_OF_MEMORY';
