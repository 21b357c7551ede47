import { expect, test } from '@jest/globals';
import { toShownPayload } from '../../inspect/payload.ts';

test('fields are shown one by one, and of others only how many there are', () => {
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

test('of long lists and texts the beginning is shown', () => {
  const { value, heldBack } = toShownPayload({
    pods: Array.from({ length: 25 }, (_, uid) => ({ uid })),
    message: 'x'.repeat(3_000),
  });
  expect(value).toMatchObject({ pods: Array.from({ length: 20 }, (_, uid) => ({ uid })) });
  expect(JSON.stringify(value).length).toBeLessThan(2_400);
  expect(heldBack).toBe(5);
});

test.each([[null], [undefined]])('%j is nothing', (value) => {
  expect(toShownPayload(value)).toEqual({ value: null, heldBack: 0 });
});
