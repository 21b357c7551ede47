import { expect, test } from '@jest/globals';
import { settleAll } from '../../../base/async/settleAll.ts';

test('returns all values in order', async () => {
  expect(await settleAll([Promise.resolve(1), Promise.resolve('two')])).toEqual([1, 'two']);
  expect(await settleAll([])).toEqual([]);
});

test('rejects only after all promises have settled', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  const all = settleAll([Promise.reject(new Error('EIO')), promise]).finally(() => {
    isOver = true;
  });
  all.catch(() => {});
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  resolve();
  await expect(all).rejects.toThrow('EIO');
});
