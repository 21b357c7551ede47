import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdDecompress, zstdCompressSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { ZstdFrameSplitter } from '../../../cri/images/zstdFrames.ts';

const SKIPPABLE = Buffer.from([0x5f, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 0xff, 0xff]);
const EMPTY_SKIPPABLE = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]);

/** Decompresses content that arrives in chunks of this size. */
async function decompressed(content: Buffer, chunkBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let at = 0; at < content.length; at += chunkBytes) chunks.push(content.subarray(at, at + chunkBytes));
  const output: Buffer[] = [];
  await pipeline(Readable.from(chunks), new ZstdFrameSplitter(), createZstdDecompress(), async (plain) => {
    for await (const chunk of plain) output.push(chunk);
  });
  return Buffer.concat(output);
}

const withChecksum = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
const parts = [
  Buffer.alloc(300_000),
  randomBytes(140_000),
  Buffer.alloc(0),
  Buffer.from('text'),
  Buffer.alloc(70_000, 'ab'),
];
const [zeros, random, empty, text, repeated] = parts.map((part, index) =>
  zstdCompressSync(part, index % 2 === 0 ? withChecksum : {}),
);

test.each([3, 7, 65_536, 2 ** 24])('all zstd frames are decompressed from chunks of %d bytes', async (chunkBytes) => {
  const frames = [SKIPPABLE, zeros, random, EMPTY_SKIPPABLE, empty, SKIPPABLE, text, repeated, EMPTY_SKIPPABLE];
  const content = Buffer.concat(frames.map((each) => each ?? Buffer.alloc(0)));
  expect((await decompressed(content, chunkBytes)).equals(Buffer.concat(parts))).toBe(true);
});

test('content that is no frame or is truncated is reported by the decompressor', async () => {
  const frame = text ?? Buffer.alloc(0);
  await expect(decompressed(Buffer.concat([frame, Buffer.from('garbage')]), 1_024)).rejects.toThrow('frame descriptor');
  await expect(decompressed(frame.subarray(0, -1), 1_024)).rejects.toThrow('unexpected end of file');
});
