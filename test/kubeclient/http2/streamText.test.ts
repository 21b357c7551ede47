import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { readStreamText } from '../../../kubeclient/http2/streamText.ts';

async function allOf(stream: PassThrough): Promise<string> {
  let text = '';
  for await (const piece of readStreamText(stream)) text += piece;
  return text;
}

test('yields all data with complete characters', async () => {
  const stream = new PassThrough();
  const text = allOf(stream);
  const bytes = Buffer.from('früh und spät');
  for (const byte of bytes) {
    stream.write(Buffer.from([byte]));
    await turn();
  }
  stream.end();
  expect(await text).toBe('früh und spät');
});

test('yields data that arrived before reading, and nothing for an empty stream', async () => {
  const stream = new PassThrough();
  stream.end('early');
  await turn();
  expect(await allOf(stream)).toBe('early');
  expect(await allOf(new PassThrough().end())).toBe('');
});

test.each([
  ['with an error', new Error('read ECONNRESET'), 'read ECONNRESET'],
  ['without one', undefined, 'the stream broke off'],
])('a stream that is cut off %s fails instead of ending normally', async (_, error, message) => {
  const stream = new PassThrough();
  stream.on('error', () => {});
  const text = allOf(stream);
  stream.write('half');
  await turn();
  stream.destroy(error);
  await expect(text).rejects.toThrow(message);
});

test('destroys the stream and removes the listeners if the consumer stops', async () => {
  const stream = new PassThrough();
  stream.write('one');
  const before = stream.eventNames().length;
  for await (const piece of readStreamText(stream)) {
    expect(piece).toBe('one');
    break;
  }
  expect(stream.destroyed).toBe(true);
  expect(stream.eventNames()).toHaveLength(before);
});

test('calls onChunk before each chunk is yielded, and fails with the error from toError', async () => {
  const stream = new PassThrough();
  let told = 0;
  const read = readStreamText(stream, {
    onChunk: () => {
      told += 1;
    },
    toError: (error) => new Error(`the server is gone: ${error?.message}`),
  });
  stream.on('error', () => {});
  stream.write('one');
  expect(await read.next()).toEqual({ done: false, value: 'one' });
  expect(told).toBe(1);
  stream.destroy(new Error('reset'));
  await expect(read.next()).rejects.toThrow('the server is gone: reset');
});
