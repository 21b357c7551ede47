/** Cuts a log into its lines. */

const NEWLINE = 10;
/** A part of a log: a line with its break, or some of a line that is too long to be held. */
export interface LinePart {
  readonly bytes: Buffer;
  readonly isStart: boolean;
}

/** A line that is longer is told in parts: no runtime writes such. */
const LONGEST_LINE = 256 * 1_024;

/** Makes lines of blocks of any size, and holds no more than a line. */
export class LineSplitter {
  #rest: Buffer = Buffer.alloc(0);
  #isWithin = false;

  *parts(block: Buffer): Generator<LinePart> {
    const bytes = this.#rest.length === 0 ? block : Buffer.concat([this.#rest, block]);
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      yield this.#part(bytes.subarray(from, end + 1), false);
      from = end + 1;
    }
    this.#rest = bytes.subarray(from);
    if (this.#rest.length > LONGEST_LINE) yield* this.rest(true);
  }

  /** What has no end yet, once nothing more is waited for. */
  *rest(goesOn = false): Generator<LinePart> {
    const bytes = this.#rest;
    this.#rest = Buffer.alloc(0);
    if (bytes.length > 0) yield this.#part(bytes, goesOn);
  }

  #part(bytes: Buffer, goesOn: boolean): LinePart {
    const isStart = !this.#isWithin;
    this.#isWithin = goesOn;
    return { bytes, isStart };
  }
}
