import { expect, test } from '@jest/globals';
import { withEitherSignal } from '../../../../cri/simulated/faults/withEitherSignal.ts';

const aborted = (signal: AbortSignal) =>
  new Promise<string>((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    signal.addEventListener('abort', () => resolve(signal.reason));
  });

test.each([0, 1])('either of the two signals aborts the call: number %i', async (index) => {
  const signals = [new AbortController(), new AbortController()] as const;
  const outcome = withEitherSignal(signals[0].signal, signals[1].signal, aborted);
  signals[index]?.abort('enough');
  expect(await outcome).toBe('enough');
});

test('an already aborted signal counts', async () => {
  expect(await withEitherSignal(new AbortController().signal, AbortSignal.abort('enough'), aborted)).toBe('enough');
});
