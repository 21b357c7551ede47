import { expect, test } from '@jest/globals';
import { touchedPods } from '../../../actors/services/touchedPods.ts';
import { aPod } from '../../pod/fixtures.ts';

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
