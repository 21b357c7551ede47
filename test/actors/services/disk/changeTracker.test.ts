import { expect, test } from '@jest/globals';
import { createChangeTracker } from '../../../../actors/services/disk/changeTracker.ts';
import { aPod } from '../../../kubernetes/fixtures.ts';

test('a pod counts as changed once its call has completed, and is returned once', async () => {
  const { trackingChanges, takeChanged } = createChangeTracker();
  const call = trackingChanges(async (_input: { pod: ReturnType<typeof aPod> }, fails: boolean) => {
    if (fails) throw new Error('no');
    return null;
  });
  const [web, db] = [aPod(), aPod({}, { name: 'db', uid: 'uid-2' })];
  await expect(call({ pod: db }, true)).rejects.toThrow('no');
  expect(takeChanged()).toEqual([]);
  await Promise.all([call({ pod: web }, false), call({ pod: web }, false)]);
  expect(takeChanged()).toEqual([web.metadata]);
  expect(takeChanged()).toEqual([]);
});

test('an object found for a pod is returned once, and a missing one is not returned', async () => {
  const { trackingFinds, takeFound } = createChangeTracker();
  const call = trackingFinds(
    async (id: string, _options: object) => (id === 'gone' ? null : { id }),
    (id) => ({ uid: `uid of ${id}`, namespace: 'default', name: 'web' }),
  );
  expect(await Promise.all(['a', 'a', 'gone'].map((id) => call(id, {})))).toEqual([{ id: 'a' }, { id: 'a' }, null]);
  expect(takeFound()).toEqual([{ id: 'a', pod: { uid: 'uid of a', namespace: 'default', name: 'web' } }]);
  expect(takeFound()).toEqual([]);
});
