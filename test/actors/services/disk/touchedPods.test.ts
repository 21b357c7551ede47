import { expect, test } from '@jest/globals';
import { touchedPods } from '../../../../actors/services/disk/touchedPods.ts';
import { aPod } from '../../../kubernetes/fixtures.ts';

test('a pod is touched once its call has answered, and is taken once', async () => {
  const { touching, takeTouched } = touchedPods();
  const call = touching(async (_input: { pod: ReturnType<typeof aPod> }, fails: boolean) => {
    if (fails) throw new Error('no');
    return null;
  });
  const [web, db] = [aPod(), aPod({}, { name: 'db', uid: 'uid-2' })];
  await expect(call({ pod: db }, true)).rejects.toThrow('no');
  expect(takeTouched()).toEqual([]);
  await Promise.all([call({ pod: web }, false), call({ pod: web }, false)]);
  expect(takeTouched()).toEqual([web.metadata]);
  expect(takeTouched()).toEqual([]);
});

test('what is found of a pod is taken once, and what is not there is none', async () => {
  const { finding, takeFound } = touchedPods();
  const call = finding(
    async (id: string, _options: object) => (id === 'gone' ? null : { id }),
    (id) => ({ uid: `uid of ${id}`, namespace: 'default', name: 'web' }),
  );
  expect(await Promise.all(['a', 'a', 'gone'].map((id) => call(id, {})))).toEqual([{ id: 'a' }, { id: 'a' }, null]);
  expect(takeFound()).toEqual([{ id: 'a', pod: { uid: 'uid of a', namespace: 'default', name: 'web' } }]);
  expect(takeFound()).toEqual([]);
});
