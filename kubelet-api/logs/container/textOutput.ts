/** Collects the output for each block of a log, up to a limit for the whole log. */

/**
 * Allocates a sixteenth more than the required size, because the size of the incomplete line that is joined to each
 * block varies.
 */
const allocateBuffer = (size: number): Buffer => Buffer.allocUnsafeSlow(size + (size >> 4));
/** The buffer shrinks if it is more than this many times the required size. */
const SHRINK_FACTOR = 4;

export class TextOutput {
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;
  #remainingBytes: number;

  constructor(limitBytes = Infinity) {
    this.#remainingBytes = limitBytes;
  }

  /** Starts the output for a block of the given size. Discards the output for the previous block. */
  start(size: number): void {
    const { length } = this.#buffer;
    if (length < size || length > SHRINK_FACTOR * size) this.#buffer = allocateBuffer(size);
    this.#length = 0;
  }

  /** Appends bytes up to the limit. */
  append(source: Buffer, from = 0, to = source.length): void {
    const end = Math.min(to, from + this.#remainingBytes);
    if (this.#length + end - from > this.#buffer.length) this.#growBuffer(end - from);
    source.copy(this.#buffer, this.#length, from, end);
    this.#length += end - from;
    this.#remainingBytes -= end - from;
  }

  get isFull(): boolean {
    return this.#remainingBytes <= 0;
  }

  /** Returns the output since the last call to `start`. The next call to `start` overwrites the output. */
  output(): Buffer | undefined {
    return this.#length === 0 ? undefined : this.#buffer.subarray(0, this.#length);
  }

  #growBuffer(byteCount: number): void {
    const largerBuffer = Buffer.allocUnsafeSlow(2 * (this.#length + byteCount));
    this.#buffer.copy(largerBuffer, 0, 0, this.#length);
    this.#buffer = largerBuffer;
  }
}
