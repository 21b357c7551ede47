/** The text of a log among those of others: each of its lines stays whole, and may say whose it is. */

const NEWLINE = 10;
/** A line that has not ended by then is told in parts. */
const LONGEST_HELD = 256 * 1_024;

export class WholeLines {
  readonly #prefix: Buffer;
  #rest: Buffer = Buffer.alloc(0);
  #isWithin = false;

  constructor(prefix: string) {
    this.#prefix = Buffer.from(prefix);
  }

  take(chunk: Buffer): Buffer {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = bytes.length > LONGEST_HELD ? bytes.length : bytes.lastIndexOf(NEWLINE) + 1;
    this.#rest = bytes.subarray(end);
    return this.#prefixed(bytes.subarray(0, end));
  }

  /** What has no line break. */
  end(): Buffer {
    return this.#prefixed(this.#rest);
  }

  #prefixed(bytes: Buffer): Buffer {
    if (this.#prefix.length === 0 || bytes.length === 0) return bytes;
    const parts: Buffer[] = [];
    for (let from = 0; from < bytes.length; ) {
      const at = bytes.indexOf(NEWLINE, from);
      const end = at < 0 ? bytes.length : at + 1;
      if (!this.#isWithin) parts.push(this.#prefix);
      parts.push(bytes.subarray(from, end));
      this.#isWithin = at < 0;
      from = end;
    }
    return Buffer.concat(parts);
  }
}
