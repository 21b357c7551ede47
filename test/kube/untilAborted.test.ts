import { expect, test } from '@jest/globals';
import { untilAborted } from '../../kube/untilAborted.ts';

test('a promise is waited for until the signal aborts, and then is no error of anybody', async () => {
  const controller = new AbortController();
  expect(await untilAborted(Promise.resolve('done'), controller.signal)).toBe('done');
  await expect(untilAborted(Promise.reject(new Error('failed')), controller.signal)).rejects.toThrow('failed');
  const { promise, reject } = Promise.withResolvers<never>();
  const waiting = untilAborted(promise, controller.signal);
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(untilAborted(promise, controller.signal)).rejects.toThrow('enough');
  reject(new Error('too late'));
  await new Promise((done) => setImmediate(done));
});
