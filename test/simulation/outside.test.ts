import { expect, jest, test } from '@jest/globals';
import { type Fate, Gate } from '../../simulation/outside.ts';
import { Schedule } from '../../simulation/schedule.ts';

/** A gate at which every call has this fate. */
const gateOf = (fate?: Fate) =>
  new Gate({
    ...{ clock: new Schedule(0), plan: () => fate, nextIndex: () => 0 },
    ...{ faultsEnded: async () => {}, onCall: () => {}, onDeath: () => {} },
  });

test('what has begun is taken back where the reply to it is lost: nobody could end it', () => {
  const undo = jest.fn();
  const call = { room: 'disk', name: 'watch', about: '/pods', writes: false } as const;
  const passing = { act: () => 'watching', failure: () => new Error('lost'), undo };
  expect(gateOf().passNow(call, passing)).toBe('watching');
  expect(() => gateOf({ kind: 'fail' }).passNow(call, passing)).toThrow('lost');
  expect(undo).not.toHaveBeenCalled();
  expect(() => gateOf({ kind: 'lostReply' }).passNow(call, passing)).toThrow('lost');
  expect(undo.mock.calls).toEqual([['watching']]);
});
