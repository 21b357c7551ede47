import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { KubeError } from '../../../kubeclient/kubeError.ts';
import { withRetries } from '../../../kubelet-api/access/withRetries.ts';

/** Returns the time of each attempt until the call fails, in milliseconds since the first one. */
async function triesOf(failure: () => Error, abortAt = Number.POSITIVE_INFINITY): Promise<number[]> {
  const clock = new SimulatedClock();
  const start = clock.now();
  const over = new AbortController();
  const tries: number[] = [];
  const act = async () => {
    tries.push(clock.now() - start);
    if (tries.at(-1) === abortAt) over.abort(new Error('it is over'));
    throw failure();
  };
  const parts = { clock, signal: over.signal };
  if (abortAt % 500 !== 0) clock.setTimeout(() => over.abort(new Error('it is over')), Math.min(abortAt, 60_000));
  await expect(clock.advanceUntilSettled(withRetries(act, parts))).rejects.toThrow();
  return tries;
}

const cut = () => new Error('cut', { cause: Object.assign(new Error('read'), { code: 'ECONNRESET' }) });

test.each([
  ['an internal server error', () => new KubeError(500, 'etcd is slow')],
  ['too many requests', () => new KubeError(429, 'slow down')],
  ['a response with Retry-After', () => new KubeError(503, 'later', { retryAfterMs: 1000 })],
  ['a connection reset', cut],
])('%s is retried, up to five attempts', async (_, failure) =>
  expect(await triesOf(failure)).toEqual([0, 500, 1250, 2375, 4062]),
);

test.each([
  ['a forbidden request', () => new KubeError(403, 'no')],
  ['a refused connection', () => Object.assign(new Error(), { code: 'ECONNREFUSED' })],
  ['a timeout', () => new Error('no answer within 10s')],
])('%s is not retried', async (_, failure) => expect(await triesOf(failure)).toEqual([0]));

test('nothing is retried after the abort, before a delay or during it', async () => {
  expect(await triesOf(cut, 500)).toEqual([0, 500]);
  expect(await triesOf(cut, 0)).toEqual([0]);
  expect(await triesOf(cut, 1100)).toEqual([0, 500]);
});
