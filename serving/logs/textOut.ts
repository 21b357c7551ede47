/** The text that is made of a block of a log, up to a limit of bytes over all of them. */

export class TextOut {
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;
  #left: number;

  constructor(limitBytes = Infinity) {
    this.#left = limitBytes;
  }

  /** So much is expected of the next block. */
  begin(size: number): void {
    this.#bytes = Buffer.allocUnsafe(size);
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

  /** What was put since the beginning; nothing of it is held any longer. */
  taken(): Buffer | undefined {
    const [bytes, length] = [this.#bytes, this.#length];
    this.begin(0);
    if (length === 0) return undefined;
    // Little of a large block would hold all of it.
    return length < bytes.length / 2 ? Buffer.from(bytes.subarray(0, length)) : bytes.subarray(0, length);
  }

  #grow(by: number): void {
    const larger = Buffer.allocUnsafe(2 * (this.#length + by));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
