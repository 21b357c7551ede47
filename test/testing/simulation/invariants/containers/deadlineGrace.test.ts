import { expect, test } from '@jest/globals';
import { deadlineGrace } from '../../../../../testing/simulation/invariants/containers/deadlineGrace.ts';
import type { Watched } from '../../../../../testing/simulation/invariants/invariant.ts';
import { aPod } from '../../../../kubernetes/fixtures.ts';

const pod = aPod({ terminationGracePeriodSeconds: 20 });
const { uid } = pod.metadata;

/**
 * Returns the violations for a pod that exceeds its deadline and then reports `termination`, with an optional hook call
 * in between.
 */
function violationsOf(
  termination: object,
  meanwhile: 'beforeJump' | 'onAgentStarted' | undefined = undefined,
): string[] {
  const broken: string[] = [];
  // The invariant reads only what its hooks receive.
  const following = deadlineGrace.follow({} as Watched, (message) => void broken.push(message));
  const tell = (told: object) => following.onStatus?.({ uid, pod, removed: false, tree: told } as never);
  following.onEvent?.({ reason: 'DeadlineExceeded', involved: { uid }, at: 90_000 } as never);
  tell({});
  if (meanwhile) following[meanwhile]?.();
  tell({ termination: { reason: 'DeadlineExceeded', graceSeconds: 20, ...termination } });
  return broken;
}

test.each([89_999, 90_001])('the grace period of a pod whose deadline passes at 90000 must not start at %i', (at) => {
  expect(violationsOf({ at })).toEqual([
    expect.stringContaining(`its grace period started at ${at}, but its termination at 90000`),
  ]);
});

test('the grace period of a pod whose deadline has passed may start with its termination', () => {
  expect(violationsOf({ at: 90_000 })).toEqual([]);
});

test('a pod that terminates for a different reason or with a shorter grace period is exempt', () => {
  expect(violationsOf({ at: 60_000, reason: 'Removed' })).toEqual([]);
  expect(violationsOf({ at: 91_000, graceSeconds: 1 })).toEqual([]);
});

test('a pod that restarts may report its first termination after its second one has started', () => {
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
  'after %s, a termination is not compared with an earlier deadline event',
  (each) => {
    expect(violationsOf({ at: 60_000 }, each)).toEqual([]);
  },
);
