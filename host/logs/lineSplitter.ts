/** Splits a log into lines. */

const NEWLINE = 10;
/** A line with its line break, or a part of a very long line. */
export interface LinePart {
  readonly bytes: Buffer;
  readonly isStart: boolean;
}

/** Maximum number of bytes to buffer. Longer lines, which no runtime writes, are yielded in parts. */
const MAX_BUFFERED_BYTES = 256 * 1_024;

/** Splits blocks of any size into lines. Buffers at most one line. */
export class LineSplitter {
  #incomplete: Buffer = Buffer.alloc(0);
  #isInsideLine = false;

  *parts(block: Buffer): Generator<LinePart> {
    const bytes = this.#incomplete.length === 0 ? block : Buffer.concat([this.#incomplete, block]);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      yield this.#toPart(bytes.subarray(start, end + 1), false);
      start = end + 1;
    }
    this.#incomplete = bytes.subarray(start);
    if (this.#incomplete.length > MAX_BUFFERED_BYTES) yield* this.flush(true);
  }

  /** Yields the incomplete last line, once no more data is expected. */
  *flush(continues = false): Generator<LinePart> {
    const bytes = this.#incomplete;
    this.#incomplete = Buffer.alloc(0);
    if (bytes.length > 0) yield this.#toPart(bytes, continues);
  }

  #toPart(bytes: Buffer, continues: boolean): LinePart {
    const isStart = !this.#isInsideLine;
    this.#isInsideLine = continues;
    return { bytes, isStart };
  }
}
