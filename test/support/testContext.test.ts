import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, jest, test } from '@jest/globals';

const descriptorOf = (name: string) => Object.getOwnPropertyDescriptor(globalThis, name);

test('the names that a program uses most are plain properties of their own in the context of a test', () => {
  for (const name of ['Map', 'Promise', 'JSON']) {
    expect(descriptorOf(name)).toMatchObject({ writable: true });
    expect(descriptorOf(name)).not.toHaveProperty('get');
  }
  // What is not of the language is asked for at its first use, and kept.
  expect(structuredClone({ of: [1] })).toEqual({ of: [1] });
  expect(descriptorOf('structuredClone')).toMatchObject({ value: structuredClone });
});

test('each file has names of its own, and binary data of the classes of Node.js', () => {
  expect(Object.getPrototypeOf(process.env)).not.toBe(Object.prototype);
  expect(gunzipSync(gzipSync('text'))).toBeInstanceOf(Uint8Array);
  expect(gzipSync('text').buffer).toBeInstanceOf(ArrayBuffer);
  expect(Buffer.from('a')).toBeInstanceOf(Uint8Array);
});

test('what jest puts in the place of a timer or a function is of this context, too', () => {
  jest.useFakeTimers();
  let isOver = false;
  setTimeout(() => {
    isOver = true;
  }, 1_000);
  jest.advanceTimersByTime(1_000);
  jest.useRealTimers();
  expect(isOver).toBe(true);
  expect(jest.fn(async () => 1)()).toBeInstanceOf(Promise);
});
