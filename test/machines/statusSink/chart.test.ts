import { describe, expect, test } from '@jest/globals';
import { createActor } from 'xstate';
import { provideActors } from '../../../machines/shared/ports.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import { type PendingStatus, statusSinkMachine } from '../../../machines/statusSink/chart.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { START } from '../support/stand.ts';

const RETRY = 10_000;
const FIRST_OF_MANY = 10_000;

/** Creates a status sink. The test responds to all of its attempts. */
function sinkStory(due: readonly PendingStatus[] = [], patience: { readonly patienceMs?: number } = {}) {
  const ports = new FakePorts(START);
  const actor = createActor(provideActors(statusSinkMachine, ports), { input: { name: 'api', due, ...patience } });
  actor.start();
  return {
    ports,
    change: (uid: string, version: number, more: Pick<PendingStatus, 'mayWait' | 'isFirst'> = {}) =>
      actor.send({ type: 'status.changed', uid, version, ...more }),
    took: (version: number) => ports.answer('putStatus', { version }),
    failed: () => ports.fail('putStatus', 'StatusNotSent', 'connection refused'),
    state: () => statePath(actor.getSnapshot().value),
    children: () => Object.keys(actor.getSnapshot().children),
    failure: () => actor.getSnapshot().context.failure?.message,
    asked: () => ports.asked('putStatus').map(({ uid }) => uid),
  };
}

test('C2: a status that an earlier run had not seen acknowledged is sent at once', () => {
  const { asked, took, state } = sinkStory([{ uid: 'a', version: 1 }]);
  expect([state(), asked()]).toEqual(['sending', ['a']]);
  took(1);
  expect(state()).toBe('idle');
});

test('a waiting status is replaced by a later version, and pods are served in order', () => {
  const { change, took, asked, state } = sinkStory([{ uid: 'a', version: 1 }]);
  for (const version of [1, 2]) change('b', version);
  change('a', 2);
  took(1);
  took(2);
  took(2);
  expect([state(), asked()]).toEqual(['idle', ['a', 'b', 'a']]);
});

test('a version that was included in the previous status is not sent again', () => {
  const { change, took, asked, state } = sinkStory([{ uid: 'a', version: 1 }]);
  change('a', 2);
  took(2);
  expect([state(), asked()]).toEqual(['idle', ['a']]);
});

test('eight statuses are sent at a time, one per pod, and a hanging one blocks none of the others', () => {
  const { change, took, asked, state } = sinkStory();
  const uids = Array.from({ length: 10 }, (_, index) => `pod-${index}`);
  for (const uid of uids) change(uid, 1);
  change('pod-0', 2);
  expect(asked()).toEqual(uids.slice(0, 8));
  for (let answers = 0; answers < 2; answers += 1) took(1);
  expect(asked()).toEqual(uids);
  took(1);
  expect(asked()).toEqual([...uids, 'pod-0']);
  expect(state()).toBe('sending');
});

test('a rejected status is retried while others are being sent', () => {
  const { ports, change, failed, asked } = sinkStory([{ uid: 'a', version: 1 }]);
  failed();
  change('b', 1);
  ports.advance(RETRY);
  expect(asked()).toEqual(['a', 'b', 'a']);
});

test('a rejected status is retried after 10 s, which failures of others do not postpone', () => {
  const { ports, change, failed, took, asked, state, failure, children } = sinkStory([{ uid: 'a', version: 1 }]);
  failed();
  expect([state(), failure()]).toEqual(['awaitingRetry', 'connection refused']);
  ports.advance(RETRY - 1);
  change('b', 1);
  failed();
  expect(state()).toBe('awaitingRetry');
  ports.advance(1);
  expect([state(), asked()]).toEqual(['sending', ['a', 'b', 'a', 'b']]);
  took(1);
  took(1);
  expect([state(), failure(), children()]).toEqual(['idle', undefined, []]);
});

test('the next status of a pod is sent at once after a rejected one, and only that', () => {
  const { ports, change, failed, took, asked, state } = sinkStory([{ uid: 'a', version: 1 }]);
  failed();
  change('a', 2);
  expect(asked()).toEqual(['a', 'a']);
  took(2);
  ports.advance(RETRY);
  expect([state(), asked()]).toEqual(['idle', ['a', 'a']]);
});

describe('a sink that defers statuses', () => {
  const PATIENCE = { patienceMs: 1_000 };
  const LATER = { mayWait: true };

  test('gets a deferrable status with the next one, which does not postpone it', () => {
    const { ports, change, took, asked, state, children } = sinkStory([], PATIENCE);
    change('a', 1, LATER);
    expect([state(), asked()]).toEqual(['deferring', []]);
    ports.advance(600);
    change('a', 2, LATER);
    ports.advance(399);
    expect(asked()).toEqual([]);
    ports.advance(1);
    expect([state(), asked()]).toEqual(['sending', ['a']]);
    took(2);
    expect([state(), asked(), children()]).toEqual(['idle', ['a'], []]);
  });

  test('gets statuses that others act on at once, together with the deferred ones', () => {
    const { ports, change, took, asked, state, children } = sinkStory([], PATIENCE);
    change('a', 1, LATER);
    change('b', 1, LATER);
    change('a', 2);
    expect([state(), asked()]).toEqual(['sending', ['a']]);
    took(2);
    expect([state(), children()]).toEqual(['deferring', ['deferral/b']]);
    ports.advance(1_000);
    took(1);
    expect([state(), asked()]).toEqual(['idle', ['a', 'b']]);
  });

  describe('with many new pods', () => {
    const FIRST = { ...LATER, isFirst: true };
    const many = (count: number) => {
      const story = sinkStory([], PATIENCE);
      const uids = Array.from({ length: count }, (_, index) => `pod-${index}`);
      for (const uid of uids) story.change(uid, 1, FIRST);
      const takeAll = (answers: number) => {
        for (let answer = 0; answer < answers; answer += 1) story.took(1);
      };
      return { ...story, uids, takeAll };
    };

    test('gets the first status of the first eight after a second, of the others after ten', () => {
      const { ports, asked, uids, takeAll } = many(10);
      ports.advance(1_000);
      expect(asked()).toEqual(uids.slice(0, 8));
      takeAll(8);
      ports.advance(FIRST_OF_MANY - 1_001);
      expect(asked()).toEqual(uids.slice(0, 8));
      ports.advance(1);
      expect(asked()).toEqual(uids);
    });

    test('gets a later status within a second, and nothing twice', () => {
      const { ports, change, took, asked, uids, takeAll, state, children } = many(9);
      ports.advance(3_000);
      takeAll(8);
      change('pod-8', 2, LATER);
      ports.advance(500);
      change('pod-8', 3, LATER);
      ports.advance(499);
      expect(asked()).toEqual(uids.slice(0, 8));
      ports.advance(1);
      took(3);
      expect([asked(), state(), children(), ports.untilNext]).toEqual([uids, 'idle', [], undefined]);
    });

    test('gets at once the statuses that others act on, together with the first status', () => {
      const { ports, change, took, asked, uids, takeAll, state, children } = many(9);
      ports.advance(3_000);
      takeAll(8);
      change('pod-8', 2);
      took(2);
      expect([asked(), state(), children(), ports.untilNext]).toEqual([uids, 'idle', [], undefined]);
    });

    test('gets within a second a status that is not the first of its pod', () => {
      const { ports, change, asked, takeAll } = many(9);
      change('other', 1, LATER);
      ports.advance(1_000);
      takeAll(8);
      expect(asked()).toContain('other');
    });

    test('gets within a second the first status of a pod that appears while others have changed', () => {
      const { ports, change, asked } = sinkStory([], PATIENCE);
      for (let index = 0; index < 7; index += 1) change(`ran-${index}`, 2, LATER);
      change('new', 1, FIRST);
      change('newer', 1, FIRST);
      ports.advance(1_000);
      ports.answer('putStatus', { version: 2 });
      expect(asked().slice(-2)).toEqual(['new', 'newer']);
    });

    test('gets statuses that others act on before deferred ones', () => {
      const { ports, change, asked, uids, takeAll } = many(30);
      ports.advance(FIRST_OF_MANY);
      change('other', 2);
      takeAll(8);
      expect(asked().slice(8)).toEqual(['other', ...uids.slice(8, 15)]);
    });

    test('retries a rejected status together with the first statuses', () => {
      const { ports, failed, took, asked, uids, takeAll, state } = many(9);
      ports.advance(1_000);
      failed();
      takeAll(7);
      expect(state()).toBe('awaitingRetry');
      ports.advance(FIRST_OF_MANY);
      took(1);
      took(1);
      expect([asked(), state()]).toEqual([[...uids, 'pod-0'], 'idle']);
    });
  });

  test('gets a deferrable status with one that is still waiting', () => {
    const { change, took, asked, state } = sinkStory([], PATIENCE);
    change('a', 1);
    change('a', 2);
    change('a', 3, LATER);
    took(1);
    took(3);
    expect([state(), asked()]).toEqual(['idle', ['a', 'a']]);
  });

  test('does not get a status again that was included meanwhile', () => {
    const { ports, change, took, asked, state, children } = sinkStory([], PATIENCE);
    change('a', 1);
    change('a', 2, LATER);
    took(2);
    expect([state(), children()]).toEqual(['idle', []]);
    ports.advance(1_000);
    expect(asked()).toEqual(['a']);
  });

  test('retries a rejected status with the next one, without sending others earlier', () => {
    const { ports, change, failed, took, asked, state } = sinkStory([], PATIENCE);
    change('a', 1);
    change('b', 1);
    failed();
    failed();
    change('a', 2, LATER);
    ports.advance(1_000);
    expect(asked()).toEqual(['a', 'b', 'a']);
    took(2);
    expect(state()).toBe('awaitingRetry');
    ports.advance(RETRY - 1_000);
    expect(asked()).toEqual(['a', 'b', 'a', 'b']);
  });

  test('gets deferred statuses although one being sent has failed', () => {
    const { ports, change, failed, took, asked, state } = sinkStory([], PATIENCE);
    change('a', 1);
    change('a', 2, LATER);
    failed();
    expect([state(), asked()]).toEqual(['deferring', ['a']]);
    ports.advance(1_000);
    took(2);
    expect([state(), asked()]).toEqual(['idle', ['a', 'a']]);
  });

  test('drops a rejected status that a deferrable one replaces', () => {
    const { ports, change, failed, took, asked, state } = sinkStory([{ uid: 'a', version: 1 }], PATIENCE);
    failed();
    expect(state()).toBe('awaitingRetry');
    ports.advance(RETRY - 500);
    change('a', 2, LATER);
    expect(state()).toBe('deferring');
    ports.advance(999);
    expect([state(), asked()]).toEqual(['deferring', ['a']]);
    ports.advance(1);
    took(2);
    expect([state(), asked()]).toEqual(['idle', ['a', 'a']]);
  });
});

test('a sink that defers none gets all at once', () => {
  const { change, asked } = sinkStory();
  change('a', 1, { mayWait: true });
  expect(asked()).toEqual(['a']);
});
