/** Splits content that is compressed with zstd into its frames. */
import { Transform } from 'node:stream';

const MAGIC = 0xfd2fb528;
/** Magic number of a skippable frame. Its lowest 4 bits can have any value. */
const SKIPPABLE_MAGIC = 0x184d2a50;
const MAGIC_BYTES = 4;
const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
/** Type of a block whose content is a single byte. */
const RLE = 1;

const isSkippable = (magic: number): boolean => (magic & 0xfffffff0) === SKIPPABLE_MAGIC;

/**
 * Whether content starts with a frame. As in containerd, the frame may be skippable, in which case it decompresses to
 * nothing.
 */
export function startsFrame(start: Buffer): boolean {
  if (start.length < MAGIC_BYTES) return false;
  const magic = start.readUInt32LE();
  return magic === MAGIC || isSkippable(magic);
}

/** The next bytes of a frame: either a header that is parsed once it is complete, or bytes that are passed on. */
interface Part {
  readonly bytes: number;
  /** Returns the next part, or undefined if the frame ends here. */
  readonly next: (header: Buffer) => Part | undefined;
  readonly isHeader: boolean;
}

const header = (bytes: number, next: Part['next']): Part => ({ bytes, next, isHeader: true });
const content = (bytes: number, next: Part['next']): Part => ({ bytes, next, isHeader: false });
const last = (bytes: number): Part => content(bytes, () => undefined);

/** Returns the first part of a frame (RFC 8878, section 3.1). */
const frame = (): Part =>
  header(MAGIC_BYTES, (bytes) => {
    const magic = bytes.readUInt32LE();
    if (isSkippable(magic)) return header(4, (size) => last(size.readUInt32LE()));
    // For any other magic number, the decompressor reports the error.
    return magic === MAGIC ? header(1, ([descriptor = 0]) => frameHeader(descriptor)) : last(Number.POSITIVE_INFINITY);
  });

function frameHeader(descriptor: number): Part {
  const hasWindow = (descriptor & 0x20) === 0;
  const sizeBytes = [hasWindow ? 0 : 1, 2, 4, 8][descriptor >> 6] ?? 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const trailerBytes = descriptor & 4 ? CHECKSUM_BYTES : 0;
  return content((hasWindow ? 1 : 0) + sizeBytes + dictionaryBytes, () => block(trailerBytes));
}

const block = (trailerBytes: number): Part =>
  header(BLOCK_HEADER_BYTES, (bytes) => {
    const word = bytes.readUIntLE(0, BLOCK_HEADER_BYTES);
    const size = ((word >> 1) & 3) === RLE ? 1 : word >> 3;
    return word & 1 ? last(size + trailerBytes) : content(size, () => block(trailerBytes));
  });

/**
 * Splits compressed content at the ends of its frames. The decompressor of Node.js ignores the data that follows a
 * frame in the same chunk, although content may have many frames, e.g. the output of `pzstd` and seekable layers.
 */
export class ZstdFrameSplitter extends Transform {
  #part = frame();
  #remaining = MAGIC_BYTES;
  #header: Buffer = Buffer.alloc(0);

  constructor() {
    // Object mode prevents chunks from being joined again.
    super({ readableObjectMode: true });
  }

  override _transform(chunk: Buffer, _encoding: string, done: () => void): void {
    let start = 0;
    for (let offset = 0; offset < chunk.length; ) {
      const part = chunk.subarray(offset, offset + Math.min(this.#remaining, chunk.length - offset));
      if (this.#part.isHeader) this.#header = Buffer.concat([this.#header, part]);
      offset += part.length;
      this.#remaining -= part.length;
      if (this.#endsFrame()) {
        this.push(chunk.subarray(start, offset));
        start = offset;
      }
    }
    if (start < chunk.length) this.push(chunk.subarray(start));
    done();
  }

  /** Advances to the next part that has bytes. Returns whether a frame ended before that part. */
  #endsFrame(): boolean {
    let hasEnded = false;
    while (this.#remaining === 0) {
      const next = this.#part.next(this.#header);
      hasEnded ||= next === undefined;
      this.#part = next ?? frame();
      this.#remaining = this.#part.bytes;
      this.#header = Buffer.alloc(0);
    }
    return hasEnded;
  }
}
