import { appendFile, type FileHandle, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { UnpackedTails } from '../../../host/logs/unpackedTails.ts';

const LINE = '2026-01-01T00:00:00.000000000Z stdout F hello\n';
let directory = '';
let file = '';
let handle: FileHandle | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-tails-'));
  file = join(directory, '0.log.gz');
});
afterEach(async () => {
  await handle?.close();
  await rm(directory, { recursive: true });
});

test('retains a cached tail although a later reader has gone', async () => {
  await writeFile(file, gzipSync(LINE));
  handle = await open(file);
  const tails = new UnpackedTails({ maxBytes: 1_024, maxFiles: 4 });
  const first = await tails.tailOf(handle, new AbortController().signal);
  expect(await tails.tailOf(handle, AbortSignal.abort())).toBe(first);
  expect(await tails.tailOf(handle, new AbortController().signal)).toBe(first);
});

test('caches no tail whose reader has gone before its end', async () => {
  await writeFile(file, gzipSync(LINE));
  await appendFile(file, gzipSync(LINE));
  handle = await open(file);
  const tails = new UnpackedTails({ maxBytes: 1_024, maxFiles: 4 });
  expect((await tails.tailOf(handle, AbortSignal.abort())).lineCount).toBe(0);
  expect((await tails.tailOf(handle, new AbortController().signal)).lineCount).toBe(2);
});
