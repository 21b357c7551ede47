import { expect, test } from '@jest/globals';
import { SharedCall } from '../../../../actors/objects/cache/sharedCall.ts';

function called() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const observed = { left: 0, isAborted: false };
  const call = new SharedCall(
    (signal) => {
      signal.addEventListener('abort', () => {
        observed.isAborted = true;
      });
      return promise;
    },
    () => {
      observed.left += 1;
    },
  );
  return { call, resolve, reject, observed };
}

test('all callers of a shared call get its result', async () => {
  const { call, resolve, observed } = called();
  const { signal } = new AbortController();
  const both = Promise.all([call.wait(signal), call.wait(signal)]);
  resolve('done');
  expect(await both).toEqual(['done', 'done']);
  expect(observed.left).toBe(1);
});

test('a shared call continues while at least one caller waits, and is aborted with the last', async () => {
  const { call, observed } = called();
  const [one, other] = [new AbortController(), new AbortController()];
  const waits = [call.wait(one.signal), call.wait(other.signal)].map((each) => each.catch(String));
  one.abort(new Error('no more'));
  expect(await waits[0]).toBe('Error: no more');
  expect(observed).toEqual({ left: 0, isAborted: false });
  other.abort(new Error('nor here'));
  expect(await waits[1]).toBe('Error: nor here');
  expect(observed).toEqual({ left: 1, isAborted: true });
});

test('all callers of a shared call get its failure', async () => {
  const { call, reject } = called();
  const { signal } = new AbortController();
  const waits = [call.wait(signal), call.wait(signal)].map((each) => each.catch(String));
  reject(new Error('broken'));
  expect(await Promise.all(waits)).toEqual(['Error: broken', 'Error: broken']);
});
