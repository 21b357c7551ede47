/** Splits zstd-compressed content into its frames. */
import { Transform } from 'node:stream';

const FRAME_MAGIC = 0xfd2fb528;
/** Magic number of a skippable frame. Its lowest 4 bits can have any value. */
const SKIPPABLE_MAGIC = 0x184d2a50;
const MAGIC_BYTES = 4;
const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
/** Type of a block that stores a single byte, which is repeated. */
const RLE_BLOCK_TYPE = 1;

const isSkippable = (magic: number): boolean => (magic & 0xfffffff0) === SKIPPABLE_MAGIC;

/**
 * Whether content starts with a zstd frame. As in containerd, this includes skippable frames, which decompress to
 * nothing.
 */
export function startsFrame(start: Buffer): boolean {
  if (start.length < MAGIC_BYTES) return false;
  const magic = start.readUInt32LE();
  return magic === FRAME_MAGIC || isSkippable(magic);
}

/** The next bytes of a frame: either a header that is parsed once it is complete, or bytes that are passed on. */
interface FramePart {
  readonly bytes: number;
  /** Returns the next part, or undefined if the frame ends here. */
  readonly parseNext: (header: Buffer) => FramePart | undefined;
  readonly isHeader: boolean;
}

const headerPart = (bytes: number, parseNext: FramePart['parseNext']): FramePart => ({
  bytes,
  parseNext,
  isHeader: true,
});
const contentPart = (bytes: number, parseNext: FramePart['parseNext']): FramePart => ({
  bytes,
  parseNext,
  isHeader: false,
});
const lastContentPart = (bytes: number): FramePart => contentPart(bytes, () => undefined);

/** Returns the first part of a frame (RFC 8878, section 3.1). */
const firstFramePart = (): FramePart =>
  headerPart(MAGIC_BYTES, (bytes) => {
    const magic = bytes.readUInt32LE();
    if (isSkippable(magic)) return headerPart(4, (size) => lastContentPart(size.readUInt32LE()));
    // For any other magic number, the decompressor reports the error.
    return magic === FRAME_MAGIC
      ? headerPart(1, ([descriptor = 0]) => frameHeaderPart(descriptor))
      : lastContentPart(Number.POSITIVE_INFINITY);
  });

function frameHeaderPart(descriptor: number): FramePart {
  const hasWindow = (descriptor & 0x20) === 0;
  const sizeFieldBytes = [hasWindow ? 0 : 1, 2, 4, 8][descriptor >> 6] ?? 0;
  const dictionaryIdBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const trailerBytes = descriptor & 4 ? CHECKSUM_BYTES : 0;
  return contentPart((hasWindow ? 1 : 0) + sizeFieldBytes + dictionaryIdBytes, () => blockPart(trailerBytes));
}

const blockPart = (trailerBytes: number): FramePart =>
  headerPart(BLOCK_HEADER_BYTES, (bytes) => {
    const blockHeader = bytes.readUIntLE(0, BLOCK_HEADER_BYTES);
    const size = ((blockHeader >> 1) & 3) === RLE_BLOCK_TYPE ? 1 : blockHeader >> 3;
    return blockHeader & 1 ? lastContentPart(size + trailerBytes) : contentPart(size, () => blockPart(trailerBytes));
  });

/**
 * Splits compressed content at the ends of its frames. The decompressor of Node.js ignores the data that follows a
 * frame in the same chunk, although content may have many frames, e.g. the output of `pzstd` and seekable layers.
 */
export class ZstdFrameSplitter extends Transform {
  #currentPart = firstFramePart();
  #remainingBytes = MAGIC_BYTES;
  #header: Buffer = Buffer.alloc(0);

  constructor() {
    // Object mode prevents chunks from being joined again.
    super({ readableObjectMode: true });
  }

  override _transform(chunk: Buffer, _encoding: string, done: () => void): void {
    let frameOffset = 0;
    for (let offset = 0; offset < chunk.length; ) {
      const partBytes = chunk.subarray(offset, offset + Math.min(this.#remainingBytes, chunk.length - offset));
      if (this.#currentPart.isHeader) this.#header = Buffer.concat([this.#header, partBytes]);
      offset += partBytes.length;
      this.#remainingBytes -= partBytes.length;
      if (this.#advancePart()) {
        this.push(chunk.subarray(frameOffset, offset));
        frameOffset = offset;
      }
    }
    if (frameOffset < chunk.length) this.push(chunk.subarray(frameOffset));
    done();
  }

  /** Advances to the next part that has bytes. Returns whether a frame ended before that part. */
  #advancePart(): boolean {
    let hasEnded = false;
    while (this.#remainingBytes === 0) {
      const nextPart = this.#currentPart.parseNext(this.#header);
      hasEnded ||= nextPart === undefined;
      this.#currentPart = nextPart ?? firstFramePart();
      this.#remainingBytes = this.#currentPart.bytes;
      this.#header = Buffer.alloc(0);
    }
    return hasEnded;
  }
}
