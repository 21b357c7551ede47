import { unlessAborted } from '../../../base/unlessAborted.ts';

/** A call that several wait for: it is given up when nobody does any more. */
export class SharedCall<T> {
  readonly #ending = new AbortController();
  readonly #result: Promise<T>;
  readonly #onLeft: () => void;
  #waiting = 0;

  /** `onLeft` is told when the last of those who wait has gone, with the result or without it. */
  constructor(call: (signal: AbortSignal) => Promise<T>, onLeft: () => void) {
    this.#result = call(this.#ending.signal);
    this.#onLeft = onLeft;
  }

  async wait(signal: AbortSignal): Promise<T> {
    this.#waiting += 1;
    try {
      return await unlessAborted(this.#result, signal);
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#end();
    }
  }

  #end(): void {
    this.#onLeft();
    this.#ending.abort();
  }
}
