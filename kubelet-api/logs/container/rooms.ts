/**
 * A pool of buffers for reading files. Buffers are reused, because unreferenced ones are only freed by a garbage
 * collection.
 */
export class BufferPool {
  readonly #size: number;
  readonly #maxRetained: number;
  readonly #free: Buffer[] = [];
  #inUse = 0;

  /** `most` is the number of buffers to retain, and the number in use from which `takeIfAvailable` returns none. */
  constructor(size: number, most: number) {
    this.#size = size;
    this.#maxRetained = most;
  }

  /** Returns a buffer, or undefined if the maximum number of buffers is in use. */
  takeIfAvailable(): Buffer | undefined {
    return this.#inUse < this.#maxRetained ? this.take() : undefined;
  }

  take(): Buffer {
    this.#inUse += 1;
    return this.#free.pop() ?? Buffer.allocUnsafe(this.#size);
  }

  /** Returns a buffer to the pool. The caller must not use it any longer. */
  release(room: Buffer): void {
    this.#inUse -= 1;
    if (this.#free.length < this.#maxRetained) this.#free.push(room);
  }
}
