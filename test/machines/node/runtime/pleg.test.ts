import { describe, expect, test } from '@jest/globals';
import type { Failure } from '../../../../base/failure.ts';
import { initialPleg, nextPlegState, type PlegChange, plegView } from '../../../../machines/node/runtime/pleg.ts';
import { STATE_TAGS } from '../../../../machines/shared/stateMeta.ts';

const failure = (message: string, at = 0): Failure => ({ reason: 'RuntimeUnavailable', message, at });
const broke = (message: string): PlegChange => ({ type: 'streamBroke', failure: failure(message) });
const failed = (message: string): PlegChange => ({ type: 'listFailed', failure: failure(message) });

/** Returns the state after these changes, one per second. */
const comeTo = (...changes: readonly PlegChange[]) =>
  changes.reduce((state, change, index) => nextPlegState(state, change, (index + 1) * 1_000), initialPleg);
const shown = (...changes: readonly PlegChange[]) => plegView(comeTo(...changes), 500);

describe('the PLEG in the actor tree', () => {
  test('waits for the event stream at first, and lists every second until it is open', () => {
    const own = { name: 'pleg', path: 'pleg' };
    const waitingFor = "the runtime's event stream, retried every second";
    expect(shown()).toEqual({
      ...own,
      since: 500,
      state: 'opening',
      tags: ['working'],
      waitingFor,
      facts: ['lists the runtime every second'],
    });
    expect(shown({ type: 'streamOpened' })).toEqual({
      ...own,
      since: 1_000,
      state: 'streaming',
      tags: ['steady'],
      facts: ['lists the runtime every 10s'],
    });
  });

  test('polls since the stream broke, with the last reason why it could not be opened', () => {
    const view = shown({ type: 'streamOpened' }, broke('reset'), broke('refused'));
    expect(view).toMatchObject({ state: 'polling', since: 2_000, facts: ['lists the runtime every second'] });
    expect(view.lastFailure).toMatchObject({ message: 'refused' });
    expect(shown(broke('reset'), { type: 'streamOpened' })).not.toHaveProperty('lastFailure');
  });

  test('is failing while lists fail, whatever the state of the stream, and recovers', () => {
    const open: PlegChange = { type: 'streamOpened' };
    expect(shown(open, failed('away'), failed('still away'))).toMatchObject({
      state: 'failing',
      since: 2_000,
      lastFailure: { message: 'still away' },
      waitingFor: 'the runtime to list its pods, retried every 10s',
    });
    expect(shown(open, failed('away'), { type: 'listed' })).toMatchObject({ state: 'streaming', since: 3_000 });
    expect(shown(failed('away'), broke('reset'), { type: 'listed' })).toMatchObject({ state: 'polling' });
    expect(shown(failed('away'), open).state).toBe('failing');
  });

  test('knows since when the runtime was not listed, until it is listed again', () => {
    const stale = (staleSince?: number): PlegChange => ({ type: 'listFailed', failure: failure('away'), staleSince });
    expect(comeTo(stale(700)).staleSince).toBe(700);
    expect(comeTo(stale(700), { type: 'streamOpened' }, broke('reset')).staleSince).toBe(700);
    expect(comeTo(stale(700), { type: 'listed' })).not.toHaveProperty('staleSince');
    // This time the runtime was listed, and something else has failed.
    expect(comeTo(stale(700), stale())).toMatchObject({ listFailure: { message: 'away' } });
    expect(comeTo(stale(700), stale())).not.toHaveProperty('staleSince');
  });

  test.each<[string, PlegChange[], PlegChange]>([
    ['a list that succeeds', [{ type: 'streamOpened' }], { type: 'listed' }],
    ['a stream that cannot be opened as before', [broke('refused')], broke('refused')],
    ['a list that fails as before', [failed('away')], failed('away')],
    ['a stream that is open', [{ type: 'streamOpened' }], { type: 'streamOpened' }],
  ])('is not changed by %s', (_, changes, same) => {
    const state = comeTo(...changes);
    expect(nextPlegState(state, same, 99_000)).toBe(state);
  });
});

test('the PLEG always has exactly one category', () => {
  const all = [shown(), shown({ type: 'streamOpened' }), shown(broke('reset')), shown(failed('no answer'))];
  const allowed: readonly string[] = STATE_TAGS;
  expect(all.map(({ tags }) => tags.filter((tag) => allowed.includes(tag)).length)).toEqual(all.map(() => 1));
});
