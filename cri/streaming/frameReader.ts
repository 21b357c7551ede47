import { malformed } from './failure.ts';
import { type Frame, HEAD_BYTES, type Head, readControl, readHead } from './frames.ts';

/** More than the headers of any stream need. What DATA frames carry is handed on in parts: they may have any length. */
export const CONTROL_LIMIT = 64 * 1024;

type Current = Head & { left: number };

/** Makes frames of the bytes of a connection, in whatever parts they come; throws at the first that are none. */
export class FrameReader {
  /** What has come of a head, or of what a control frame has behind it. */
  #parts: Uint8Array[] = [];
  #wanted = HEAD_BYTES;
  #current: Current | undefined;

  /** Whether a frame has begun and is not complete. */
  get isWithin(): boolean {
    return this.#current !== undefined || this.#wanted !== HEAD_BYTES;
  }

  /** The frames, or parts of DATA frames, that these bytes complete. */
  *read(chunk: Uint8Array): Generator<Frame> {
    for (let rest = chunk; ; ) {
      const taken = rest.subarray(0, this.#current ? this.#current.left : this.#wanted);
      rest = rest.subarray(taken.length);
      const frame = this.#take(taken);
      if (frame) yield frame;
      if (rest.length === 0) return;
    }
  }

  #take(bytes: Uint8Array): Frame | undefined {
    if (this.#current && !this.#current.isControl) return this.#takeData(this.#current, bytes);
    this.#parts.push(bytes);
    if (this.#current === undefined) {
      this.#wanted -= bytes.length;
      if (this.#wanted > 0) return undefined;
      return this.#begin(readHead(this.#joined()));
    }
    this.#current.left -= bytes.length;
    return this.#current.left > 0 ? undefined : this.#endControl(this.#current);
  }

  #begin(head: Head): Frame | undefined {
    this.#wanted = HEAD_BYTES;
    if (head.isControl && head.length > CONTROL_LIMIT)
      throw malformed(`a frame says that it has ${head.length} bytes, more than ${CONTROL_LIMIT}`);
    const current = { ...head, left: head.length };
    this.#current = current;
    if (head.length > 0) return undefined;
    return current.isControl ? this.#endControl(current) : this.#takeData(current, new Uint8Array());
  }

  #takeData(current: Current & { isControl: false }, data: Uint8Array): Frame | undefined {
    current.left -= data.length;
    const isLast = current.left === 0;
    if (isLast) this.#current = undefined;
    if (data.length === 0 && !isLast) return undefined;
    return { type: 'data', streamId: current.streamId, fin: current.fin && isLast, data };
  }

  #endControl({ type, flags }: Current & { isControl: true }): Frame | undefined {
    this.#current = undefined;
    return readControl(type, flags, this.#joined());
  }

  #joined(): Buffer {
    const joined = Buffer.concat(this.#parts);
    this.#parts = [];
    return joined;
  }
}
