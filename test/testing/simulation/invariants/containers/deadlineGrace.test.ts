import { expect, test } from '@jest/globals';
import { deadlineGrace } from '../../../../../testing/simulation/invariants/containers/deadlineGrace.ts';
import type { Watched } from '../../../../../testing/simulation/invariants/invariant.ts';
import { aPod } from '../../../../kubernetes/fixtures.ts';

const pod = aPod({ terminationGracePeriodSeconds: 20 });
const { uid } = pod.metadata;

/** What the invariant says where the end of a pod begins, something else happens, and then its end is told. */
function said(termination: object, meanwhile: 'beforeJump' | 'onAgentStarted' | undefined = undefined): string[] {
  const broken: string[] = [];
  // It looks at nothing but what it is told.
  const following = deadlineGrace.follow({} as Watched, (message) => void broken.push(message));
  const tell = (told: object) => following.onStatus?.({ uid, pod, removed: false, tree: told } as never);
  following.onEvent?.({ reason: 'DeadlineExceeded', involved: { uid }, at: 90_000 } as never);
  tell({});
  if (meanwhile) following[meanwhile]?.();
  tell({ termination: { reason: 'DeadlineExceeded', graceSeconds: 20, ...termination } });
  return broken;
}

test.each([89_999, 90_001])('the end of a pod for its deadline has its grace from then: not from %i', (at) => {
  expect(said({ at })).toEqual([expect.stringContaining(`its grace counts from ${at}, but its end began at 90000`)]);
});

test('from then it may have it', () => {
  expect(said({ at: 90_000 })).toEqual([]);
});

test('one that ends for another reason, or has a shorter grace by now, has that', () => {
  expect(said({ at: 60_000, reason: 'Removed' })).toEqual([]);
  expect(said({ at: 91_000, graceSeconds: 1 })).toEqual([]);
});

test('a pod that starts again may show its first end after its second one began', () => {
  const broken: string[] = [];
  const following = deadlineGrace.follow({} as Watched, (message) => void broken.push(message));
  const begin = (at: number) => following.onEvent?.({ reason: 'DeadlineExceeded', involved: { uid }, at } as never);
  const show = (at: number, removed = false) => {
    const termination = { reason: 'DeadlineExceeded', graceSeconds: 20, at };
    following.onStatus?.({ uid, pod, removed, tree: { termination } } as never);
  };
  begin(10_000);
  show(10_000);
  begin(90_000);
  show(10_000);
  show(10_000, true);
  show(90_000);
  expect(broken).toEqual([]);
  begin(150_000);
  show(140_000);
  expect(broken).toHaveLength(1);
});

test.each(['beforeJump', 'onAgentStarted'] as const)(
  'what is told after %s is not compared with what was before',
  (each) => {
    expect(said({ at: 60_000 }, each)).toEqual([]);
  },
);
