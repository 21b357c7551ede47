import { expect, test } from '@jest/globals';
import { isInMemory } from '../../../host/files/inMemory.ts';

test('distinguishes directories in memory from those on disk', async () => {
  expect(await isInMemory('/dev/shm')).toBe(true);
  expect(await isInMemory('/proc')).toBe(false);
  await expect(isInMemory('/proc/none')).rejects.toThrow('ENOENT');
});
