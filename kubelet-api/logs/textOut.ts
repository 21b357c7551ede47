/** The text that is made of a block of a log, up to a limit of bytes over all of them. */

/** A block is longer by what was left of the one before, each time by something else: so there is a sixteenth more room. */
const roomFor = (size: number): Buffer => Buffer.allocUnsafeSlow(size + (size >> 4));
/** Room for so many times as much as is needed is given back. */
const SPARE = 4;

export class TextOut {
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;
  #left: number;

  constructor(limitBytes = Infinity) {
    this.#left = limitBytes;
  }

  /** So much is expected of the next block. What was taken of the last one is overwritten. */
  begin(size: number): void {
    const { length } = this.#bytes;
    if (length < size || length > SPARE * size) this.#bytes = roomFor(size);
    this.#length = 0;
  }

  /** Takes bytes, as far as the limit lets it. */
  put(source: Buffer, from = 0, to = source.length): void {
    const end = Math.min(to, from + this.#left);
    if (this.#length + end - from > this.#bytes.length) this.#grow(end - from);
    source.copy(this.#bytes, this.#length, from, end);
    this.#length += end - from;
    this.#left -= end - from;
  }

  get isFull(): boolean {
    return this.#left <= 0;
  }

  /** What was put since the beginning, to be used before the next one begins. */
  taken(): Buffer | undefined {
    return this.#length === 0 ? undefined : this.#bytes.subarray(0, this.#length);
  }

  #grow(by: number): void {
    const larger = Buffer.allocUnsafeSlow(2 * (this.#length + by));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
