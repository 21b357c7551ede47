import { expect, test } from '@jest/globals';
import type { EventSink } from '../../../actors/events/eventSink.ts';
import type { RuntimeEffect } from '../../../cri/simulated/views.ts';
import type { Watched } from '../../../simulation/invariants/invariant.ts';
import { toldOnce } from '../../../simulation/invariants/toldOnce.ts';

/** What is violated by the events of one container, by what happens to it at the runtime. */
function story() {
  const violations: string[] = [];
  const main = { podUid: 'web-uid', containerName: 'main' };
  const there: object[] = [];
  // As far as it is looked at.
  const watched = { host: { containers: () => there } } as unknown as Watched;
  const following = toldOnce.follow(watched, (message) => void violations.push(message));
  return {
    violations,
    begin: () => following.onLifeBegan?.(),
    make: () => {
      there.push(main);
      following.onEffect?.({ kind: 'created', sandbox: {}, container: main } as unknown as RuntimeEffect);
    },
    tell: (reason = 'Created') => {
      const involved = { uid: 'web-uid', namespace: 'default', name: 'web', fieldPath: 'spec.containers{main}' };
      following.onEvent?.({ reason, message: 'Container created', involved } as unknown as Parameters<EventSink>[0]);
    },
  };
}

test('each creation is told once, however much later', () => {
  const { begin, make, tell, violations } = story();
  begin();
  make();
  tell();
  make();
  tell();
  tell('BackOff');
  tell('BackOff');
  expect(violations).toEqual([]);
  tell();
  expect(violations).toEqual(['told twice: default/web Created: Container created']);
});

test('what an earlier agent had made the next one may tell once more', () => {
  const { begin, make, tell, violations } = story();
  begin();
  make();
  tell();
  begin();
  tell();
  expect(violations).toEqual([]);
  tell();
  expect(violations).toHaveLength(1);
});
