/** The compressions that containerd reads, for a whole archive or for one of its layers. */
import type { Transform } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';

const COMPRESSIONS = [
  { magic: Buffer.from([0x1f, 0x8b]), decompress: (): Transform => createGunzip() },
  { magic: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), decompress: (): Transform => createZstdDecompress() },
];

/** Returns the decompressor for content that starts with these bytes, of which four are enough. Undefined if it is plain. */
export const decompressorFor = (start: Buffer): Transform | undefined =>
  COMPRESSIONS.find(({ magic }) => start.subarray(0, magic.length).equals(magic))?.decompress();

/** Expansion that is accepted for an archive of any size, in bytes. */
const ALWAYS_ACCEPTED_BYTES = 1024 ** 3;
/** Layers shrink to a tenth at best, unless they are of zeros only: gzip shrinks those to a thousandth. */
const MAX_RATIO = 100;

/** Returns how many bytes an archive of this size may expand to, so that a small file cannot fill the disk of the node. */
export const maxExpandedBytes = (archiveBytes: number): number =>
  Math.max(ALWAYS_ACCEPTED_BYTES, archiveBytes * MAX_RATIO);
