/** Runs tasks that share a key sequentially, and other tasks concurrently. */
export class KeyLocks {
  /** The last task of each key. */
  readonly #lastTasks = new Map<string, Promise<unknown>>();

  /** Runs a task after all earlier tasks with any of the keys, whether these succeed or fail. */
  async run<T>(keys: readonly string[], task: () => Promise<T>): Promise<T> {
    // Each call queues for all of its keys synchronously, so that tasks cannot deadlock.
    const precedingTasks = keys.map((key) => this.#lastTasks.get(key));
    const running = Promise.allSettled(precedingTasks).then(task);
    for (const key of keys) this.#lastTasks.set(key, running);
    try {
      return await running;
    } finally {
      for (const key of keys) if (this.#lastTasks.get(key) === running) this.#lastTasks.delete(key);
    }
  }
}
