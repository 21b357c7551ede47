import { hostFiles } from '../files/fileSystem.ts';

/** Counts down so many milliseconds, or until the signal aborts. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<unknown>;

/** How often who follows a log looks by itself, in milliseconds: where nothing tells of changes, that is all there is. */
const LOOK_MS = 1_000;

/** Wakes who follows a log: when anything changes in its directory, and every second. */
export class LogChanges {
  readonly #pause: Pause;
  readonly #ending = new AbortController();
  #isLooking = false;
  #changed = Promise.withResolvers<void>();

  constructor(directory: string, pause: Pause, signal: AbortSignal) {
    this.#pause = pause;
    const ended = this.#ending.signal;
    signal.addEventListener('abort', this.wake, { once: true, signal: ended });
    ended.addEventListener('abort', watchIfPossible(directory, this.wake), { once: true });
  }

  /** Waits for a change since it was waited for last. Meanwhile a look is taken, a second after the one before at most. */
  async next(look: () => Promise<void>): Promise<void> {
    if (!this.#isLooking) void this.#look(look);
    await this.#changed.promise;
    this.#changed = Promise.withResolvers();
  }

  wake = (): void => this.#changed.resolve();

  end = (): void => this.#ending.abort();

  async #look(look: () => Promise<void>): Promise<void> {
    this.#isLooking = true;
    await Promise.all([look(), this.#pause(LOOK_MS, this.#ending.signal)]);
    this.#isLooking = false;
    this.wake();
  }
}

/** The kernel watches no more than so many directories of a user. */
function watchIfPossible(directory: string, onChange: () => void): () => void {
  try {
    const watcher = hostFiles.watch(directory, { onChange, onError: () => {} });
    return () => watcher.close();
  } catch {
    return () => {};
  }
}
