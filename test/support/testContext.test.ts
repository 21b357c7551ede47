import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, jest, test } from '@jest/globals';

const descriptorOf = (name: string) => Object.getOwnPropertyDescriptor(globalThis, name);

test('frequently used globals are plain own properties of a test context', () => {
  for (const name of ['Map', 'Promise', 'JSON']) {
    expect(descriptorOf(name)).toMatchObject({ writable: true });
    expect(descriptorOf(name)).not.toHaveProperty('get');
  }
  // Globals that are not part of the language are copied at their first use.
  expect(structuredClone({ of: [1] })).toEqual({ of: [1] });
  expect(descriptorOf('structuredClone')).toMatchObject({ value: structuredClone });
});

test('each test file has its own globals, and binary data has the classes of Node.js', () => {
  expect(Object.getPrototypeOf(process.env)).not.toBe(Object.prototype);
  expect(gunzipSync(gzipSync('text'))).toBeInstanceOf(Uint8Array);
  expect(gzipSync('text').buffer).toBeInstanceOf(ArrayBuffer);
  expect(Buffer.from('a')).toBeInstanceOf(Uint8Array);
});

test('timers and functions mocked by jest belong to the test context', () => {
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
