import { protocolFailure } from './failure.ts';
import { FRAME_HEADER_BYTES, type Frame, type FrameHeader, parseControlFrame, parseFrameHeader } from './frames.ts';

/**
 * Maximum size in bytes of a control frame. Larger frames are an error, because the headers of every stream fit into
 * this size. DATA frames are forwarded in parts and may have any length.
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
  #currentFrame: CurrentFrame | undefined;

  /** Whether a frame has been received only partially. */
  get isIncomplete(): boolean {
    return this.#currentFrame !== undefined || this.#missingHeaderBytes !== FRAME_HEADER_BYTES;
  }

  /** Yields the control frames that a chunk completes and the parts of DATA frames that it contains. */
  *read(chunk: Uint8Array): Generator<Frame> {
    for (let remainingBytes = chunk; ; ) {
      const frameBytes = remainingBytes.subarray(
        0,
        this.#currentFrame ? this.#currentFrame.remainingBytes : this.#missingHeaderBytes,
      );
      remainingBytes = remainingBytes.subarray(frameBytes.length);
      const frame = this.#consumeBytes(frameBytes);
      if (frame) yield frame;
      if (remainingBytes.length === 0) return;
    }
  }

  #consumeBytes(bytes: Uint8Array): Frame | undefined {
    if (this.#currentFrame && !this.#currentFrame.isControl) return this.#consumeData(this.#currentFrame, bytes);
    this.#chunks.push(bytes);
    if (this.#currentFrame === undefined) {
      this.#missingHeaderBytes -= bytes.length;
      if (this.#missingHeaderBytes > 0) return undefined;
      return this.#startFrame(parseFrameHeader(this.#takeBufferedBytes()));
    }
    this.#currentFrame.remainingBytes -= bytes.length;
    return this.#currentFrame.remainingBytes > 0 ? undefined : this.#completeControlFrame(this.#currentFrame);
  }

  #startFrame(header: FrameHeader): Frame | undefined {
    this.#missingHeaderBytes = FRAME_HEADER_BYTES;
    if (header.isControl && header.length > MAX_CONTROL_FRAME_BYTES)
      throw protocolFailure(`a frame says that it has ${header.length} bytes, more than ${MAX_CONTROL_FRAME_BYTES}`);
    const currentFrame = { ...header, remainingBytes: header.length };
    this.#currentFrame = currentFrame;
    if (header.length > 0) return undefined;
    return currentFrame.isControl
      ? this.#completeControlFrame(currentFrame)
      : this.#consumeData(currentFrame, new Uint8Array());
  }

  #consumeData(currentFrame: CurrentFrame & { isControl: false }, data: Uint8Array): Frame | undefined {
    currentFrame.remainingBytes -= data.length;
    const isLastChunk = currentFrame.remainingBytes === 0;
    if (isLastChunk) this.#currentFrame = undefined;
    if (data.length === 0 && !isLastChunk) return undefined;
    return { type: 'data', streamId: currentFrame.streamId, fin: currentFrame.fin && isLastChunk, data };
  }

  #completeControlFrame({ type, flags }: CurrentFrame & { isControl: true }): Frame | undefined {
    this.#currentFrame = undefined;
    return parseControlFrame(type, flags, this.#takeBufferedBytes());
  }

  #takeBufferedBytes(): Buffer {
    const joinedBytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    return joinedBytes;
  }
}
