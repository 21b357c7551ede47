import { expect, test } from '@jest/globals';
import { stoppedByUs } from '../../../../actors/services/containers/stoppedByUs.ts';

test('what is being stopped is so until the stop has answered, be it by a failure', async () => {
  const { stops, isBeingStopped } = stoppedByUs();
  const answer = Promise.withResolvers<null>();
  const stop = stops(
    ({ ids }: { ids: readonly string[] }) => ids,
    (_input, _options: undefined) => answer.promise,
  );
  const stopping = stop({ ids: ['a', 'b'] }, undefined);
  expect(['a', 'b', 'c'].map(isBeingStopped)).toEqual([true, true, false]);
  answer.reject(new Error('the runtime is away'));
  await expect(stopping).rejects.toThrow('the runtime is away');
  expect(isBeingStopped('a')).toBe(false);
});
