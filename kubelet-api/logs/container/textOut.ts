/** Collects the output for one block of a log, with a limit for the total output. */

/** Allocates a sixteenth more than needed, because the size of the remainder joined to each block varies. */
const allocate = (size: number): Buffer => Buffer.allocUnsafeSlow(size + (size >> 4));
/** The buffer shrinks if it is more than this many times the required size. */
const SHRINK_FACTOR = 4;

export class TextOut {
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;
  #remainingBytes: number;

  constructor(limitBytes = Infinity) {
    this.#remainingBytes = limitBytes;
  }

  /** Starts a block of the given size. Overwrites the output of the previous block. */
  begin(size: number): void {
    const { length } = this.#bytes;
    if (length < size || length > SHRINK_FACTOR * size) this.#bytes = allocate(size);
    this.#length = 0;
  }

  /** Appends bytes up to the limit. */
  put(source: Buffer, from = 0, to = source.length): void {
    const end = Math.min(to, from + this.#remainingBytes);
    if (this.#length + end - from > this.#bytes.length) this.#grow(end - from);
    source.copy(this.#bytes, this.#length, from, end);
    this.#length += end - from;
    this.#remainingBytes -= end - from;
  }

  get isFull(): boolean {
    return this.#remainingBytes <= 0;
  }

  /** Returns the output since `begin`. The next `begin` overwrites it. */
  output(): Buffer | undefined {
    return this.#length === 0 ? undefined : this.#bytes.subarray(0, this.#length);
  }

  #grow(by: number): void {
    const larger = Buffer.allocUnsafeSlow(2 * (this.#length + by));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
