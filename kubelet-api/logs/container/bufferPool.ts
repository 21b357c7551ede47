/**
 * A pool of buffers for reading files. Buffers are reused, because unreferenced ones are only freed by a garbage
 * collection.
 */
export class BufferPool {
  readonly #bufferSize: number;
  readonly #maxRetained: number;
  readonly #freeBuffers: Buffer[] = [];
  #usedCount = 0;

  /**
   * `maxRetained` is the maximum number of free buffers to retain. `takeIfAvailable` returns undefined while that many
   * buffers are in use.
   */
  constructor(size: number, maxRetained: number) {
    this.#bufferSize = size;
    this.#maxRetained = maxRetained;
  }

  /** Returns a buffer, or undefined if the maximum number of buffers is in use. */
  takeIfAvailable(): Buffer | undefined {
    return this.#usedCount < this.#maxRetained ? this.take() : undefined;
  }

  take(): Buffer {
    this.#usedCount += 1;
    return this.#freeBuffers.pop() ?? Buffer.allocUnsafe(this.#bufferSize);
  }

  /** Returns a buffer to the pool. The caller must no longer use the buffer. */
  release(buffer: Buffer): void {
    this.#usedCount -= 1;
    if (this.#freeBuffers.length < this.#maxRetained) this.#freeBuffers.push(buffer);
  }
}
