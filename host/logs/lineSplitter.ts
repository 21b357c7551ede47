const NEWLINE = 10;
/** A line with its line break, or a part of a very long line. */
export interface LinePart {
  readonly bytes: Buffer;
  readonly isLineStart: boolean;
}

/** Maximum number of bytes to buffer. Longer lines, which no runtime writes, are yielded in parts. */
const MAX_BUFFERED_BYTES = 256 * 1_024;

/** Splits blocks of any size into lines. Buffers at most one line. */
export class LineSplitter {
  #incompleteLine: Buffer = Buffer.alloc(0);
  #isInsideLine = false;

  *parts(block: Buffer): Generator<LinePart> {
    const bytes = this.#incompleteLine.length === 0 ? block : Buffer.concat([this.#incompleteLine, block]);
    let lineStart = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, lineStart)) {
      yield this.#toLinePart(bytes.subarray(lineStart, end + 1), false);
      lineStart = end + 1;
    }
    this.#incompleteLine = bytes.subarray(lineStart);
    if (this.#incompleteLine.length > MAX_BUFFERED_BYTES) yield* this.flush(true);
  }

  /** Yields the incomplete last line, once no more data is expected. */
  *flush(continues = false): Generator<LinePart> {
    const bytes = this.#incompleteLine;
    this.#incompleteLine = Buffer.alloc(0);
    if (bytes.length > 0) yield this.#toLinePart(bytes, continues);
  }

  #toLinePart(bytes: Buffer, continues: boolean): LinePart {
    const isLineStart = !this.#isInsideLine;
    this.#isInsideLine = continues;
    return { bytes, isLineStart };
  }
}
