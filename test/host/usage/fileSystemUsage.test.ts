import { statfs } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { readFileSystemUsage } from '../../../host/usage/fileSystemUsage.ts';

const { signal } = new AbortController();

test('returns bytes and inodes of the file system that contains a path', async () => {
  const { bsize, blocks, files } = await statfs('/');
  const usage = await readFileSystemUsage('/', signal);
  expect(usage).toMatchObject({ capacityBytes: blocks * bsize, inodes: files });
  const { capacityBytes = 0, availableBytes = 0, usedBytes = 0 } = usage ?? {};
  expect(usedBytes).toBeGreaterThan(0);
  // Some space is reserved for root.
  expect(availableBytes + usedBytes).toBeLessThanOrEqual(capacityBytes);
});

test('returns undefined for a missing path and after cancellation', async () => {
  expect(await readFileSystemUsage('/none', signal)).toBeUndefined();
  expect(await readFileSystemUsage('/', AbortSignal.abort())).toBeUndefined();
});
