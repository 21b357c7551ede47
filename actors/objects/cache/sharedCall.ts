import { unlessAborted } from '../../../base/async/unlessAborted.ts';

/** A call that several callers wait for. The call is aborted when the last caller stops waiting. */
export class SharedCall<T> {
  readonly #abortController = new AbortController();
  readonly #result: Promise<T>;
  readonly #onAbandoned: () => void;
  #waiterCount = 0;

  /** Calls `onAbandoned` when the last caller stops waiting, with or without a result. */
  constructor(call: (signal: AbortSignal) => Promise<T>, onAbandoned: () => void) {
    this.#result = call(this.#abortController.signal);
    this.#onAbandoned = onAbandoned;
  }

  async wait(signal: AbortSignal): Promise<T> {
    this.#waiterCount += 1;
    try {
      return await unlessAborted(this.#result, signal);
    } finally {
      this.#waiterCount -= 1;
      if (this.#waiterCount === 0) this.#abort();
    }
  }

  #abort(): void {
    this.#onAbandoned();
    this.#abortController.abort();
  }
}
