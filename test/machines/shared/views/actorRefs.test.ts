import { expect, test } from '@jest/globals';
import { actorAt, actorPath } from '../../../../machines/shared/views/actorRefs.ts';
import { asker, ear } from '../../support/stand.ts';

test('an actor is found by its path from any actor of its system', () => {
  const root = ear().ref;
  const [pod, limiter] = [ear(root, 'pod/uid').ref, ear(root, 'startLimiter').ref];
  const container = ear(pod, 'container/main').ref;
  expect(actorPath(root)).toEqual([]);
  expect(actorPath(container)).toEqual(['pod/uid', 'container/main']);
  expect(actorAt(limiter, actorPath(container))).toBe(container);
  expect(actorAt(container, actorPath(limiter))).toBe(limiter);
});

test('no actor is found at an incomplete path or at a name that every object has', () => {
  const root = ear().ref;
  const { ref: pod } = ear(root, 'pod/uid');
  for (const path of [['pod/other'], ['pod/uid', 'container/main'], ['constructor'], ['pod/uid', '__proto__']]) {
    expect(actorAt(pod, path)).toBeUndefined();
  }
});

test('a response is sent only to the path of the requesting actor', () => {
  const root = ear().ref;
  const pod = ear(root, 'pod/uid').ref;
  const [one, other] = [asker(pod), asker(pod)];
  actorAt(pod, one.holder)?.send({ type: 'slot.granted' });
  expect([one.heard(), other.heard()]).toEqual([[{ type: 'slot.granted' }], []]);
});
