import { hostFiles } from '../files/fileSystem.ts';

/** Waits for the given number of milliseconds or until the signal aborts. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<unknown>;

/** Polling interval in milliseconds. Polling is required on file systems that do not report changes. */
const POLL_INTERVAL_MS = 1_000;

/** Wakes the reader of a followed log whenever the log's directory changes, and once a second. */
export class LogChanges {
  readonly #pause: Pause;
  readonly #closeController = new AbortController();
  #isPolling = false;
  #nextChange = Promise.withResolvers<void>();

  constructor(directory: string, pause: Pause, signal: AbortSignal) {
    this.#pause = pause;
    const closedSignal = this.#closeController.signal;
    signal.addEventListener('abort', this.wake, { once: true, signal: closedSignal });
    closedSignal.addEventListener('abort', tryWatch(directory, this.wake), { once: true });
  }

  /** Waits for the next change. Calls `poll` in the background, at most once per second. */
  async nextChange(poll: () => Promise<void>): Promise<void> {
    if (!this.#isPolling) void this.#pollOnce(poll);
    await this.#nextChange.promise;
    this.#nextChange = Promise.withResolvers();
  }

  wake = (): void => this.#nextChange.resolve();

  close = (): void => this.#closeController.abort();

  async #pollOnce(poll: () => Promise<void>): Promise<void> {
    this.#isPolling = true;
    await Promise.all([poll(), this.#pause(POLL_INTERVAL_MS, this.#closeController.signal)]);
    this.#isPolling = false;
    this.wake();
  }
}

/** Watches a directory. Does nothing if the user's limit on inotify watches has been reached. */
function tryWatch(directory: string, onChange: () => void): () => void {
  try {
    const watcher = hostFiles.watch(directory, { onChange, onError: () => {} });
    return () => watcher.close();
  } catch {
    return () => {};
  }
}
