/** The compressions that containerd reads, for a whole archive or for one of its layers. */
import type { Transform } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { startsFrame, ZstdFrameSplitter } from './zstdFrames.ts';

const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

/**
 * Returns the streams that decompress content which starts with these bytes, of which four are enough. Undefined if it is
 * plain.
 */
export function decompressorsFor(start: Buffer): readonly [Transform, ...Transform[]] | undefined {
  if (start.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) return [createGunzip()];
  return startsFrame(start) ? [new ZstdFrameSplitter(), createZstdDecompress()] : undefined;
}

/** Expansion that is accepted for an archive of any size, in bytes. */
const ALWAYS_ACCEPTED_BYTES = 1024 ** 3;
/** Layers shrink to a tenth at best, unless they are of zeros only: gzip shrinks those to a thousandth. */
const MAX_RATIO = 100;

/** Returns how many bytes an archive of this size may expand to, so that a small file cannot fill the disk of the node. */
export const maxExpandedBytes = (archiveBytes: number): number =>
  Math.max(ALWAYS_ACCEPTED_BYTES, archiveBytes * MAX_RATIO);
