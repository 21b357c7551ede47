import { expect, test } from '@jest/globals';
import { allDone } from '../../base/allDone.ts';

test('all that comes of it, in its order', async () => {
  expect(await allDone([Promise.resolve(1), Promise.resolve('two')])).toEqual([1, 'two']);
  expect(await allDone([])).toEqual([]);
});

test('what fails fails once the rest has come to its end', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  const all = allDone([Promise.reject(new Error('EIO')), promise]).finally(() => {
    isOver = true;
  });
  all.catch(() => {});
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  resolve();
  await expect(all).rejects.toThrow('EIO');
});
