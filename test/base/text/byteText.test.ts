import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bytesToText, textToBytes } from '../../../base/text/byteText.ts';

test('returns UTF-8 unchanged, including a byte order mark', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(bytesToText(Buffer.from(text))).toBe(text);
      expect(textToBytes(text)).toEqual(Buffer.from(text));
    }),
  );
  expect(bytesToText(Buffer.from('\ufeffA'))).toBe('\ufeffA');
});

test('converts any bytes back, even after two texts are concatenated', () => {
  const some = fc.uint8Array({ maxLength: 20 });
  fc.assert(
    fc.property(some, some, (one, other) => {
      const text = bytesToText(Buffer.from(one)) + bytesToText(Buffer.from(other));
      expect(textToBytes(text)).toEqual(Buffer.from([...one, ...other]));
    }),
  );
});

test('preserves valid text between invalid bytes', () => {
  expect(bytesToText(Buffer.from([0xff, ...Buffer.from('größe😀'), 0xe2, 0x82]))).toBe('\udcffgröße😀\udce2\udc82');
});

test('converts a megabyte of invalid bytes quickly', () => {
  const bytes = Buffer.alloc(1 << 20, 0xff);
  const began = performance.now();
  expect(textToBytes(bytesToText(bytes)).equals(bytes)).toBe(true);
  expect(performance.now() - began).toBeLessThan(20_000);
});
