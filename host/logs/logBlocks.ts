/** Reads a file of a log forward, block by block, whether it is compressed or not. */
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { errorCode } from '../files/fileErrors.ts';

const BLOCK = 64 * 1_024;
/** How a compressed file begins. */
const GZIP = Buffer.from([0x1f, 0x8b]);

/** Part of a file; `to` absent: as far as there is something now. */
interface Stretch {
  readonly from?: number;
  readonly to?: number;
  /** Of a block at most. */
  readonly size?: number;
}

/** Up to so many bytes from a place of a file; fewer at its end. */
export async function bytesAt(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, from);
  return buffer.subarray(0, bytesRead);
}

/** Whether a file is compressed, by what is in it. */
export const isCompressed = async (handle: FileHandle): Promise<boolean> =>
  (await bytesAt(handle, 0, GZIP.length)).equals(GZIP);

/** What a file has in it from a place on, which counts only where it is not compressed. */
export async function* blocksOf(handle: FileHandle, from = 0): AsyncGenerator<Buffer> {
  yield* (await isCompressed(handle)) ? unpackedBlocks(handle) : plainBlocks(handle, { from });
}

/** The first bytes of what a file has in it, at most so many of its first block. */
export async function headOf(handle: FileHandle, length: number): Promise<Buffer> {
  try {
    for await (const block of blocksOf(handle)) return block.subarray(0, length);
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  return Buffer.alloc(0);
}

/** The bytes of a plain file as they are. */
export async function* plainBlocks(
  handle: FileHandle,
  { from = 0, to = Infinity, size = BLOCK }: Stretch = {},
): AsyncGenerator<Buffer> {
  for (let at = from; at < to; ) {
    const block = await bytesAt(handle, at, Math.min(size, to - at));
    if (block.length === 0) return;
    at += block.length;
    yield block;
  }
}

/** Whether an error says that a compressed file is damaged. */
export const isDamage = (error: unknown): boolean => errorCode(error)?.startsWith('Z_') === true;

/** What a compressed file has in it. */
export async function* unpackedBlocks(handle: FileHandle): AsyncGenerator<Buffer> {
  const packed = Readable.from(plainBlocks(handle), { objectMode: false });
  const unpacked = createGunzip();
  packed.on('error', (error) => unpacked.destroy(error));
  try {
    // A stream of bytes gives buffers.
    yield* packed.pipe(unpacked) as AsyncIterable<Buffer>;
  } finally {
    packed.destroy();
    unpacked.destroy();
  }
}
