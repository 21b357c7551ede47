import { deflateSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodeHeaders, encodeHeaders } from '../../../cri/streaming/headerBlock.ts';
import { headerCompressor, headerDecompressor, MAX_HEADERS_BYTES } from '../../../cri/streaming/headerCodec.ts';
import { headerDictionary } from '../../../cri/streaming/headerDictionary.ts';

const bytes = (hex: string) => Buffer.from(hex, 'hex');

/** Returns the checksum of RFC 1950 by which a zlib stream identifies its dictionary. */
function adler32(data: Uint8Array): number {
  let [low, high] = [1, 0];
  for (const byte of data) {
    low = (low + byte) % 65521;
    high = (high + low) % 65521;
  }
  return high * 65536 + low;
}

test('the dictionary is that of SPDY/3, whose checksum e3c6a7c2 starts every header stream', () => {
  expect([headerDictionary().length, adler32(headerDictionary()).toString(16)]).toEqual([1423, 'e3c6a7c2']);
});

/**
 * Output of Python's zlib for three blocks: compressobj(9, DEFLATED, 15, 8, Z_DEFAULT_STRATEGY, dictionary), with
 * flush(Z_SYNC_FLUSH) after each.
 */
const RECORDED = [
  '78f9e3c6a7c202a62346703a2b294a4dcc851625aca9a08006000000ffff',
  'c22e555c02cc2e00000000ffff',
  '02321800000000ffff',
];

test('decompresses headers from a different zlib, block by block', async () => {
  const decompressor = headerDecompressor();
  const read = await Promise.all(RECORDED.map((hex) => decompressor.convert(bytes(hex))));
  expect(read).toEqual([new Map([['streamtype', 'error']]), new Map([['streamtype', 'stdin']]), new Map()]);
  decompressor.close();
});

test('decompresses what it compressed, block by block with shared history', async () => {
  const name = fc.stringMatching(/^[a-z-]{1,12}$/);
  const headers = fc
    .array(fc.tuple(name, fc.string({ maxLength: 40, unit: 'grapheme' })), { maxLength: 6 })
    .map((entries) => new Map(entries));
  await fc.assert(
    fc.asyncProperty(fc.array(headers, { minLength: 1, maxLength: 6 }), async (blocks) => {
      const [compressor, decompressor] = [headerCompressor(), headerDecompressor()];
      const sent = await Promise.all(blocks.map((each) => compressor.convert(each)));
      expect(await Promise.all(sent.map((each) => decompressor.convert(each)))).toEqual(blocks);
      for (const each of [compressor, decompressor]) each.close();
    }),
    { numRuns: 50 },
  );
});

test('limits the size of decompressed headers', async () => {
  const bomb = deflateSync(Buffer.alloc(10_000_000), { dictionary: headerDictionary() });
  expect(bomb.length).toBeLessThan(20_000);
  await expect(headerDecompressor().convert(bomb)).rejects.toThrow(
    `the headers of a stream are longer than ${MAX_HEADERS_BYTES} bytes`,
  );
});

test('rejects headers after the end of the zlib stream', async () => {
  const decompressor = headerDecompressor();
  const whole = deflateSync(encodeHeaders(new Map()), { dictionary: headerDictionary() });
  expect(await decompressor.convert(whole)).toEqual(new Map());
  await expect(decompressor.convert(bytes('00'))).rejects.toMatchObject({ reason: 'StreamFailed' });
});

test.each([
  ['no zlib', 'ffffffff', 'incorrect header check'],
  ['another dictionary', '78bb00000001', 'Bad dictionary'],
  ['that breaks off', '78f9e3c6a7c202a6', 'the headers of a stream break off'],
])('invalid compressed headers are rejected: %s', async (_, hex, message) => {
  await expect(headerDecompressor().convert(bytes(hex))).rejects.toThrow(message);
});

test('rejects random bytes unless they are valid headers', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), fc.boolean(), async (random, isPrefixed) => {
      const decompressor = headerDecompressor();
      const block = isPrefixed ? Buffer.concat([bytes('78bbe3c6a7c2'), random]) : random;
      const outcome = await decompressor.convert(block).catch((error: unknown) => error);
      expect(outcome instanceof Map || outcome).toEqual(
        outcome instanceof Map || expect.objectContaining({ reason: 'StreamFailed' }),
      );
      decompressor.close();
    }),
  );
});

const word = (value: number) => value.toString(16).padStart(8, '0');
const text = (value: string) => word(value.length) + Buffer.from(value).toString('hex');

test.each([
  ['nothing', '', 'break off'],
  ['a name that is not there', word(1), 'break off'],
  ['a name that is too long', `${word(1)}${word(0xffff_ffff)}`, 'break off'],
  ['very many', word(101), 'a stream has 101 headers, more than 100'],
  ['no name', `${word(1)}${text('')}${text('a')}`, 'a header has no name'],
  ['capitals', `${word(1)}${text('Host')}${text('a')}`, 'or one with capitals'],
  ['a name twice', `${word(2)}${text('a')}${text('1')}${text('a')}${text('2')}`, 'a stream has a header twice'],
  ['more behind them', `${word(0)}00`, 'something follows the headers'],
])('headers with %s are rejected', (_, hex, message) => {
  expect(() => decodeHeaders(bytes(hex))).toThrow(message);
});

test('accepts headers with the names of object properties', () => {
  const headers = new Map([['__proto__', 'a']]);
  expect(decodeHeaders(encodeHeaders(headers))).toEqual(headers);
});
