/** Reads a log file block by block, decompressing it if necessary. */
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { errorCode } from '../files/fileErrors.ts';

const BLOCK_BYTES = 64 * 1_024;
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

/** A range of a file. Without `to`, it extends to the current end of the file. */
interface ReadRange {
  readonly from?: number;
  readonly to?: number;
  /** Maximum size of a block. */
  readonly blockBytes?: number;
}

/** Reads up to `length` bytes at a position, fewer at the end of the file. */
export async function readBytesAt(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, from);
  return buffer.subarray(0, bytesRead);
}

/** Whether a file is compressed, judging by its contents. */
export const isCompressed = async (handle: FileHandle): Promise<boolean> =>
  (await readBytesAt(handle, 0, GZIP_MAGIC.length)).equals(GZIP_MAGIC);

/** Yields the contents of a file. `from` only applies if the file is not compressed. */
export async function* readBlocks(handle: FileHandle, from = 0): AsyncGenerator<Buffer> {
  yield* (await isCompressed(handle)) ? readUnpackedBlocks(handle) : readPlainBlocks(handle, { from });
}

/** Returns the first `length` bytes of a file's decompressed contents, or fewer if the first block is shorter. */
export async function readHead(handle: FileHandle, length: number): Promise<Buffer> {
  try {
    for await (const block of readBlocks(handle)) return block.subarray(0, length);
  } catch (error) {
    if (!isDamagedFile(error)) throw error;
  }
  return Buffer.alloc(0);
}

/** Yields the bytes of an uncompressed file. */
export async function* readPlainBlocks(
  handle: FileHandle,
  { from = 0, to = Infinity, blockBytes = BLOCK_BYTES }: ReadRange = {},
): AsyncGenerator<Buffer> {
  for (let position = from; position < to; ) {
    const block = await readBytesAt(handle, position, Math.min(blockBytes, to - position));
    if (block.length === 0) return;
    position += block.length;
    yield block;
  }
}

/** Whether an error means that a compressed file is damaged. */
export const isDamagedFile = (error: unknown): boolean => errorCode(error)?.startsWith('Z_') === true;

/** Yields the decompressed contents of a file. */
export async function* readUnpackedBlocks(handle: FileHandle): AsyncGenerator<Buffer> {
  const compressedStream = Readable.from(readPlainBlocks(handle), { objectMode: false });
  const gunzip = createGunzip();
  compressedStream.on('error', (error) => gunzip.destroy(error));
  try {
    // Safe cast, because a stream without an encoding yields buffers.
    yield* compressedStream.pipe(gunzip) as AsyncIterable<Buffer>;
  } finally {
    compressedStream.destroy();
    gunzip.destroy();
  }
}
