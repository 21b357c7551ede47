import { expect, test } from '@jest/globals';
import { toShownPayload } from '../../inspect/payload.ts';

test('known fields are shown one by one, and other fields are only counted', () => {
  const value = {
    type: 'runtime.podsObserved',
    pods: [
      { uid: 'a', annotations: { secret: '1' }, containers: [{ name: 'web', state: 'exited', exitCode: 3, env: [] }] },
    ],
    constructor: 'x',
  };
  expect(toShownPayload(value)).toEqual({
    value: {
      type: 'runtime.podsObserved',
      pods: [{ uid: 'a', containers: [{ name: 'web', state: 'exited', exitCode: 3 }] }],
    },
    heldBack: 3,
  });
});

test('long lists and strings are truncated', () => {
  const { value, heldBack } = toShownPayload({
    pods: Array.from({ length: 25 }, (_, uid) => ({ uid })),
    message: 'x'.repeat(3_000),
  });
  expect(value).toMatchObject({ pods: Array.from({ length: 20 }, (_, uid) => ({ uid })) });
  expect(JSON.stringify(value).length).toBeLessThan(2_400);
  expect(heldBack).toBe(5);
});

test.each([[null], [undefined]])('the payload %j is shown as null', (value) => {
  expect(toShownPayload(value)).toEqual({ value: null, heldBack: 0 });
});
