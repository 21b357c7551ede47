import { protocolFailure } from './failure.ts';
import { FRAME_HEADER_BYTES, type Frame, type FrameHeader, parseControlFrame, parseFrameHeader } from './frames.ts';

/**
 * Maximum size in bytes of a control frame, which is more than the headers of any stream need. A larger frame is an
 * error. DATA frames are forwarded in parts and may have any length.
 */
export const MAX_CONTROL_FRAME_BYTES = 64 * 1024;

type CurrentFrame = FrameHeader & { remainingBytes: number };

/**
 * Parses the bytes of a connection into frames, regardless of how the bytes are split into chunks. Throws at the first
 * invalid frame.
 */
export class FrameReader {
  /** Bytes received so far of a frame header or of a control frame's payload. */
  #chunks: Uint8Array[] = [];
  #missingHeaderBytes = FRAME_HEADER_BYTES;
  #current: CurrentFrame | undefined;

  /** Whether a frame has been received only partially. */
  get isIncomplete(): boolean {
    return this.#current !== undefined || this.#missingHeaderBytes !== FRAME_HEADER_BYTES;
  }

  /** Yields the control frames that a chunk completes and the parts of DATA frames that it contains. */
  *read(chunk: Uint8Array): Generator<Frame> {
    for (let remaining = chunk; ; ) {
      const bytes = remaining.subarray(0, this.#current ? this.#current.remainingBytes : this.#missingHeaderBytes);
      remaining = remaining.subarray(bytes.length);
      const frame = this.#consume(bytes);
      if (frame) yield frame;
      if (remaining.length === 0) return;
    }
  }

  #consume(bytes: Uint8Array): Frame | undefined {
    if (this.#current && !this.#current.isControl) return this.#consumeData(this.#current, bytes);
    this.#chunks.push(bytes);
    if (this.#current === undefined) {
      this.#missingHeaderBytes -= bytes.length;
      if (this.#missingHeaderBytes > 0) return undefined;
      return this.#startFrame(parseFrameHeader(this.#takeBuffered()));
    }
    this.#current.remainingBytes -= bytes.length;
    return this.#current.remainingBytes > 0 ? undefined : this.#completeControl(this.#current);
  }

  #startFrame(head: FrameHeader): Frame | undefined {
    this.#missingHeaderBytes = FRAME_HEADER_BYTES;
    if (head.isControl && head.length > MAX_CONTROL_FRAME_BYTES)
      throw protocolFailure(`a frame says that it has ${head.length} bytes, more than ${MAX_CONTROL_FRAME_BYTES}`);
    const current = { ...head, remainingBytes: head.length };
    this.#current = current;
    if (head.length > 0) return undefined;
    return current.isControl ? this.#completeControl(current) : this.#consumeData(current, new Uint8Array());
  }

  #consumeData(current: CurrentFrame & { isControl: false }, data: Uint8Array): Frame | undefined {
    current.remainingBytes -= data.length;
    const isLast = current.remainingBytes === 0;
    if (isLast) this.#current = undefined;
    if (data.length === 0 && !isLast) return undefined;
    return { type: 'data', streamId: current.streamId, fin: current.fin && isLast, data };
  }

  #completeControl({ type, flags }: CurrentFrame & { isControl: true }): Frame | undefined {
    this.#current = undefined;
    return parseControlFrame(type, flags, this.#takeBuffered());
  }

  #takeBuffered(): Buffer {
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [];
    return joined;
  }
}
