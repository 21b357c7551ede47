import { expect, test } from '@jest/globals';
import { unlessAborted } from '../../../base/async/unlessAborted.ts';

test('waits for a promise until the signal aborts, and then ignores its rejection', async () => {
  const controller = new AbortController();
  expect(await unlessAborted(Promise.resolve('done'), controller.signal)).toBe('done');
  await expect(unlessAborted(Promise.reject(new Error('failed')), controller.signal)).rejects.toThrow('failed');
  const { promise, reject } = Promise.withResolvers<never>();
  const waiting = unlessAborted(promise, controller.signal);
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(unlessAborted(promise, controller.signal)).rejects.toThrow('enough');
  reject(new Error('too late'));
  await new Promise((done) => setImmediate(done));
});
