import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bytesOfText, textOfBytes } from '../../base/byteText.ts';

test('UTF-8 is the text that it is, a byte order mark and all', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(textOfBytes(Buffer.from(text))).toBe(text);
      expect(bytesOfText(text)).toEqual(Buffer.from(text));
    }),
  );
  expect(textOfBytes(Buffer.from('\ufeffA'))).toBe('\ufeffA');
});

test('whatever bytes there are come back, also of two texts that were put together', () => {
  const some = fc.uint8Array({ maxLength: 20 });
  fc.assert(
    fc.property(some, some, (one, other) => {
      const text = textOfBytes(Buffer.from(one)) + textOfBytes(Buffer.from(other));
      expect(bytesOfText(text)).toEqual(Buffer.from([...one, ...other]));
    }),
  );
});

test('what is text beside bytes that are none is still text', () => {
  expect(textOfBytes(Buffer.from([0xff, ...Buffer.from('größe😀'), 0xe2, 0x82]))).toBe('\udcffgröße😀\udce2\udc82');
});

test('a megabyte of bytes that are no text takes no time to speak of', () => {
  const bytes = Buffer.alloc(1 << 20, 0xff);
  const began = performance.now();
  expect(bytesOfText(textOfBytes(bytes)).equals(bytes)).toBe(true);
  expect(performance.now() - began).toBeLessThan(20_000);
});
