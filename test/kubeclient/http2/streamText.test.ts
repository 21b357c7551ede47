import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { streamText } from '../../../kubeclient/http2/streamText.ts';

async function allOf(stream: PassThrough): Promise<string> {
  let text = '';
  for await (const piece of streamText(stream)) text += piece;
  return text;
}

test('all comes that the stream brings, characters whole', async () => {
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

test('what came before anybody read is read, and nothing is nothing', async () => {
  const stream = new PassThrough();
  stream.end('early');
  await turn();
  expect(await allOf(stream)).toBe('early');
  expect(await allOf(new PassThrough().end())).toBe('');
});

test.each([
  ['with an error', new Error('read ECONNRESET'), 'read ECONNRESET'],
  ['without one', undefined, 'the stream broke off'],
])('a stream that breaks off %s has not ended', async (_, error, message) => {
  const stream = new PassThrough();
  stream.on('error', () => {});
  const text = allOf(stream);
  stream.write('half');
  await turn();
  stream.destroy(error);
  await expect(text).rejects.toThrow(message);
});

test('whoever stops reading gives the stream up, and leaves nothing on it', async () => {
  const stream = new PassThrough();
  stream.write('one');
  const before = stream.eventNames().length;
  for await (const piece of streamText(stream)) {
    expect(piece).toBe('one');
    break;
  }
  expect(stream.destroyed).toBe(true);
  expect(stream.eventNames()).toHaveLength(before);
});

test('each piece is told before it is had, and why there are no more is said by who knows', async () => {
  const stream = new PassThrough();
  let told = 0;
  const read = streamText(stream, {
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
