import { expect, test } from '@jest/globals';
import { createStopTracker } from '../../../../actors/services/containers/stopTracker.ts';

test('a container counts as being stopped until the stop call has returned or failed', async () => {
  const { tracking, isBeingStopped } = createStopTracker();
  const answer = Promise.withResolvers<null>();
  const stop = tracking(
    ({ ids }: { ids: readonly string[] }) => ids,
    (_input, _options: undefined) => answer.promise,
  );
  const stopping = stop({ ids: ['a', 'b'] }, undefined);
  expect(['a', 'b', 'c'].map(isBeingStopped)).toEqual([true, true, false]);
  answer.reject(new Error('the runtime is away'));
  await expect(stopping).rejects.toThrow('the runtime is away');
  expect(isBeingStopped('a')).toBe(false);
});
