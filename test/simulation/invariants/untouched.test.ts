import { expect, test } from '@jest/globals';
import type { RuntimeEffect } from '../../../cri/simulated/views.ts';
import { Deeds } from '../../../simulation/deeds.ts';
import type { Watched } from '../../../simulation/invariants/invariant.ts';
import { untouched } from '../../../simulation/invariants/untouched.ts';

const OF_ITS_MANIFEST = 'c3e092f30f36536cf70640bc87963462';
const POD = 'default/web-node-1';

/** What is violated by what happens at a runtime, by the seconds at which it does. */
function story(uid: string) {
  const [deeds, clock, violations] = [new Deeds(), { elapsed: 0 }, [] as string[]];
  deeds.want(POD, { file: 'web.json', ...(uid === OF_ITS_MANIFEST ? {} : { uid }) });
  // As far as it is looked at.
  const watched = { host: { clock }, deeds } as unknown as Watched;
  const { onEffect, afterStep } = untouched.follow(watched, (message) => void violations.push(message));
  const sandbox = { id: 's', podUid: uid, namespace: 'default', podName: 'web-node-1' };
  const main = { ...sandbox, id: 'c', containerName: 'main', sandbox };
  const effect = (second: number, kind: RuntimeEffect['kind'], container?: typeof main) => {
    clock.elapsed = second * 1_000;
    onEffect?.({ kind, sandbox, ...(container ? { container } : {}) } as unknown as RuntimeEffect);
    afterStep?.();
  };
  return {
    sandbox: (second: number) => effect(second, 'created'),
    start: (second: number) => effect(second, 'started', main),
    end: (second: number) => effect(second, 'ended', main),
    touch: (second: number) => deeds.touch(POD, second * 1_000),
    want: (next: string) => deeds.want(POD, { uid: next }),
    violations,
  };
}

test.each([OF_ITS_MANIFEST, 'of-the-user'])('what ends that nobody has touched is told, of the UID %s', (uid) => {
  const { sandbox, start, end, touch, violations } = story(uid);
  touch(0);
  sandbox(1);
  start(2);
  end(3);
  expect(violations).toEqual([`${POD} main was ended, and nothing had touched it`]);
});

test('what was touched while it ran may end', () => {
  const { sandbox, start, end, touch, violations } = story('of-the-user');
  sandbox(1);
  start(2);
  touch(3);
  end(4);
  expect(violations).toEqual([]);
});

test.each([
  [OF_ITS_MANIFEST, 0],
  ['of-the-user', 1],
])('what starts after its pod was touched may end where that made it another pod: %s', (uid, told) => {
  const { sandbox, start, end, touch, violations } = story(uid);
  sandbox(1);
  touch(2);
  start(3);
  end(4);
  expect(violations).toHaveLength(told);
});

test('a pod with a UID of the user ends in whichever run it is when its agent hears that another has its name', () => {
  const { sandbox, start, end, touch, want, violations } = story('of-the-user');
  sandbox(1);
  touch(2);
  want('another-of-the-user');
  start(3);
  end(4);
  expect(violations).toEqual([]);
});
