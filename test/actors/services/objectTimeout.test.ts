import { expect, test } from '@jest/globals';
import { withObjectTimeout } from '../../../actors/services/objectTimeout.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { FakeObjects } from '../../fakes/objects.ts';
import { aPod } from '../../kubernetes/fixtures.ts';

test.each([
  ['ConfigMap', 'configmap'],
  ['Secret', 'secret'],
] as const)('C37: a request for a %s times out after one second with the message of a kubelet', async (kind, word) => {
  const objects = new FakeObjects();
  objects.trouble.set(`${kind}/slow`, 'hangs');
  const clock = new SimulatedClock(0);
  const { signal } = new AbortController();
  const result = withObjectTimeout(objects, clock).get(aPod(), kind, 'slow', { signal });
  let isOver = false;
  result.catch(() => {
    isOver = true;
  });
  await clock.advance(999);
  expect(isOver).toBe(false);
  await clock.advance(1);
  await expect(result).rejects.toThrow(`failed to sync ${word} cache: timed out waiting for the condition`);
});

test('an object or an error is passed on unchanged within the timeout, and an aborted caller is rejected', async () => {
  const objects = new FakeObjects();
  objects.put('Secret', 'key', { data: {} });
  objects.trouble.set('Secret/slow', 'hangs');
  const limited = withObjectTimeout(objects, new SimulatedClock(0));
  const { signal } = new AbortController();
  await expect(limited.get(aPod(), 'Secret', 'key', { signal })).resolves.toMatchObject({ name: 'key' });
  await expect(limited.get(aPod(), 'Secret', 'none', { signal })).rejects.toThrow('secret "none" not found');
  const stopping = new AbortController();
  const reading = limited.get(aPod(), 'Secret', 'slow', stopping);
  stopping.abort(new Error('stopped'));
  await expect(reading).rejects.not.toThrow('failed to sync');
});
