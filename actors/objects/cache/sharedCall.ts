import { unlessAborted } from '../../../base/unlessAborted.ts';

/** A call with several waiters. It is aborted when the last waiter leaves. */
export class SharedCall<T> {
  readonly #abortController = new AbortController();
  readonly #result: Promise<T>;
  readonly #onLeft: () => void;
  #waiters = 0;

  /** `onLeft` is called when the last waiter has left, with or without a result. */
  constructor(call: (signal: AbortSignal) => Promise<T>, onLeft: () => void) {
    this.#result = call(this.#abortController.signal);
    this.#onLeft = onLeft;
  }

  async wait(signal: AbortSignal): Promise<T> {
    this.#waiters += 1;
    try {
      return await unlessAborted(this.#result, signal);
    } finally {
      this.#waiters -= 1;
      if (this.#waiters === 0) this.#abort();
    }
  }

  #abort(): void {
    this.#onLeft();
    this.#abortController.abort();
  }
}
