/** Computes the unpacked size of a layer without unpacking it. */
import type { FileHandle } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createDecompressors } from './compression.ts';
import { readAt, TarError, type TarInput, walkTar } from './tarMembers.ts';

interface StoredLayer {
  readonly file: FileHandle;
  /** Position in the file, in bytes. */
  readonly offset: number;
  readonly size: number;
}

const READ_CHUNK_BYTES = 256 * 1024;
const MAGIC_BYTES = 4;

/**
 * Returns the size of a layer after decompression and with sparse files expanded, as containerd unpacks it. Stops
 * counting above `limit`, so that a decompression bomb is not expanded completely. If a layer is not a tar archive,
 * returns the number of its bytes and leaves it to containerd to report the error.
 */
export async function measureLayerSize({ file, offset, size }: StoredLayer, limit: number): Promise<number> {
  const magic = await readAt(file, offset, Math.min(MAGIC_BYTES, size));
  const decompressors = createDecompressors(magic);
  if (decompressors === undefined) {
    return measureTar(
      { size, read: (position, length) => readAt(file, offset + position, Math.min(length, size - position)) },
      limit,
    );
  }
  // Do not use a stream of the file handle, because destroying the stream would close the handle.
  const compressedStream = Readable.from(readLayer({ file, offset, size }));
  const decompressedStream = decompressors.at(-1) ?? decompressors[0];
  // A damaged layer ends the stream early. containerd reports the damage when it unpacks the layer.
  pipeline([compressedStream, ...decompressors], () => {});
  const input = new StreamInput(decompressedStream);
  try {
    const unpackedBytes = await measureTar(input, limit);
    return unpackedBytes > limit ? unpackedBytes : Math.max(unpackedBytes, await input.countRest(limit));
  } finally {
    // This also destroys the preceding streams.
    decompressedStream.destroy();
  }
}

async function* readLayer({ file, offset: at, size }: StoredLayer): AsyncGenerator<Buffer> {
  for (let offset = 0; offset < size; offset += READ_CHUNK_BYTES) {
    yield await readAt(file, at + offset, Math.min(READ_CHUNK_BYTES, size - offset));
  }
}

/** Returns the sum of the members' sizes. Holes in sparse files count, because they are written as zeros. */
async function measureTar(input: TarInput, limit: number): Promise<number> {
  let totalBytes = 0;
  try {
    for await (const { startOffset, endOffset, size, extractedSize } of walkTar(input)) {
      totalBytes += endOffset - startOffset + extractedSize - size;
      if (totalBytes > limit) break;
    }
  } catch (error) {
    if (!(error instanceof TarError)) throw error;
  }
  return Number.isFinite(input.size) ? Math.max(totalBytes, input.size) : totalBytes;
}

/** Sequential input from a stream. Buffers only the bytes after the position of the latest read. */
class StreamInput implements TarInput {
  readonly size = Number.POSITIVE_INFINITY;
  readonly #chunks: AsyncIterator<Buffer>;
  #buffer: Buffer = Buffer.alloc(0);
  #position = 0;
  #hasEnded = false;

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  async read(position: number, length: number): Promise<Buffer> {
    this.#discardBuffered(position - this.#position);
    const chunks = [this.#buffer];
    for (let bytes = this.#buffer.length; bytes < length + position - this.#position; ) {
      const chunk = await this.#nextChunk();
      if (chunk === undefined) break;
      // Drop skipped content chunk by chunk, so that a large file is never completely in memory.
      if (this.#position + bytes + chunk.length <= position) {
        this.#position += bytes + chunk.length;
        chunks.length = 0;
        bytes = 0;
        continue;
      }
      chunks.push(chunk);
      bytes += chunk.length;
    }
    this.#buffer = Buffer.concat(chunks);
    this.#discardBuffered(position - this.#position);
    return this.#position === position ? this.#buffer.subarray(0, length) : Buffer.alloc(0);
  }

  /** Reads the rest of the stream and returns its total length, or the first count above `limit`. */
  async countRest(limit: number): Promise<number> {
    let bytes = this.#position + this.#buffer.length;
    while (bytes <= limit) {
      const chunk = await this.#nextChunk();
      if (chunk === undefined) break;
      bytes += chunk.length;
    }
    return bytes;
  }

  #discardBuffered(count: number): void {
    const discardedBytes = Math.min(Math.max(count, 0), this.#buffer.length);
    this.#buffer = this.#buffer.subarray(discardedBytes);
    this.#position += discardedBytes;
  }

  async #nextChunk(): Promise<Buffer | undefined> {
    if (this.#hasEnded) return undefined;
    const { done, value } = await this.#chunks.next().catch(() => ({ done: true, value: undefined }));
    this.#hasEnded = done === true;
    return value;
  }
}
