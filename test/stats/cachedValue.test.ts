import { expect, test } from '@jest/globals';
import { CachedValue } from '../../stats/cachedValue.ts';

const { signal } = new AbortController();

function counted() {
  const waiting: ((value: number) => void)[] = [];
  let now = 0;
  const moment = new CachedValue({
    computeValue: () => new Promise<number>((resolve) => waiting.push(resolve)),
    clock: { monotonic: () => now },
  });
  const finish = async () => {
    waiting.at(-1)?.(waiting.length);
    await new Promise((done) => setImmediate(done));
  };
  return { moment, waiting, finish, pass: (ms: number) => (now += ms) };
}

test('concurrent callers share one computation, and later callers within the maximum age share its result', async () => {
  const { moment, waiting, finish, pass } = counted();
  const asked = [moment.get(10, signal), moment.get(10, signal)];
  await finish();
  expect(await Promise.all(asked)).toEqual([1, 1]);
  pass(9);
  expect(await moment.get(10, signal)).toBe(1);
  pass(1);
  const again = moment.get(10, signal);
  await finish();
  expect(await again).toBe(2);
  expect(waiting).toHaveLength(2);
});

test('an aborted caller does not cancel the computation for the others, and a failure is not cached', async () => {
  const { moment, waiting, finish } = counted();
  const end = new AbortController();
  const [gone, stays] = [moment.get(10, end.signal), moment.get(10, signal)];
  end.abort(new Error('gone'));
  await expect(gone).rejects.toThrow('gone');
  await finish();
  expect(await stays).toBe(1);
  expect(waiting).toHaveLength(1);
  let fails = true;
  const once = new CachedValue({
    computeValue: async () => {
      if (fails) throw new Error('not yet');
      return 'done';
    },
    clock: { monotonic: () => 0 },
  });
  await expect(once.get(10, signal)).rejects.toThrow('not yet');
  fails = false;
  expect(await once.get(10, signal)).toBe('done');
});
