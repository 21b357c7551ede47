const NEWLINE = 10;
/** Maximum number of bytes to buffer. A longer line is passed through in parts. */
const MAX_BUFFERED_BYTES = 256 * 1_024;

/** Passes only complete lines through, each with a prefix, so that the output of several logs can be interleaved. */
export class LinePrefixer {
  readonly #prefix: Buffer;
  #bufferedBytes: Buffer = Buffer.alloc(0);
  #isMidLine = false;

  constructor(prefix: string) {
    this.#prefix = Buffer.from(prefix);
  }

  push(chunk: Buffer): Buffer {
    const bytes = this.#bufferedBytes.length === 0 ? chunk : Buffer.concat([this.#bufferedBytes, chunk]);
    const end = bytes.length > MAX_BUFFERED_BYTES ? bytes.length : bytes.lastIndexOf(NEWLINE) + 1;
    this.#bufferedBytes = bytes.subarray(end);
    return this.#addPrefixes(bytes.subarray(0, end));
  }

  /** Returns the last line if it has no line break. */
  flush(): Buffer {
    return this.#addPrefixes(this.#bufferedBytes);
  }

  #addPrefixes(bytes: Buffer): Buffer {
    if (this.#prefix.length === 0 || bytes.length === 0) return bytes;
    const prefixedChunks: Buffer[] = [];
    for (let start = 0; start < bytes.length; ) {
      const newline = bytes.indexOf(NEWLINE, start);
      const end = newline < 0 ? bytes.length : newline + 1;
      if (!this.#isMidLine) prefixedChunks.push(this.#prefix);
      prefixedChunks.push(bytes.subarray(start, end));
      this.#isMidLine = newline < 0;
      start = end;
    }
    return Buffer.concat(prefixedChunks);
  }
}
