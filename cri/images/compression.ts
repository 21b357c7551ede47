/** Handles the compression formats that containerd reads, for whole archives and for layers. */
import type { Transform } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { startsFrame, ZstdFrameSplitter } from './zstdFrames.ts';

const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

/**
 * Returns the streams that decompress the content that starts with `start`, or undefined if the content is not
 * compressed. Four bytes of `start` are enough.
 */
export function createDecompressors(start: Buffer): readonly [Transform, ...Transform[]] | undefined {
  if (start.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) return [createGunzip()];
  return startsFrame(start) ? [new ZstdFrameSplitter(), createZstdDecompress()] : undefined;
}

/** Minimum value of the limit on the expanded size, in bytes. Small archives get this limit. */
const MIN_EXPANDED_LIMIT_BYTES = 1024 ** 3;
/**
 * Maximum ratio of expanded to compressed size. Layers typically have a ratio of 10. With gzip, only layers of zeros
 * reach a ratio of 1,000.
 */
const MAX_EXPANSION_RATIO = 100;

/** Returns the maximum expanded size of an archive. The limit prevents a small file from filling the node's disk. */
export const maxUnpackedBytes = (archiveBytes: number): number =>
  Math.max(MIN_EXPANDED_LIMIT_BYTES, archiveBytes * MAX_EXPANSION_RATIO);
