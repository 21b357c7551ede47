import { expect, test } from '@jest/globals';
import type { RecordedInput } from '../../../../../actors/boundary.ts';
import type { PodChange } from '../../../../../actors/status/statusBoard.ts';
import type { Watched } from '../../../../../testing/simulation/invariants/invariant.ts';
import { cost } from '../../../../../testing/simulation/invariants/resources/cost.ts';
import { containerWith, podWith } from '../../../../fakes/pods.ts';

const PARTS = 100;
const containers = Array.from({ length: PARTS }, (_, index) => containerWith(`c${index}`));
const pod = podWith('large', { containers });
const entryOf = (actor: string): RecordedInput => ({ at: 0, actor, kind: 'answer', source: 'findImage', value: null });

/**
 * Returns the violations for an agent with a pod of many containers, in which each of 100 entries about one container
 * causes this much work.
 */
function violationsOf(work: {
  readonly transitions: number;
  readonly statuses: number;
  readonly elapsedMs?: number;
}): string[] {
  const violations: string[] = [];
  const clock = { elapsed: 0 };
  // The invariant reads nothing else of the simulation.
  const watched = { host: { clock } } as unknown as Watched;
  const following = cost.follow(watched, (message) => violations.push(message));
  // It reads nothing else of a change.
  const change = { uid: 'large-uid', pod, removed: false } as PodChange;
  for (let index = 0; index < PARTS; index += 1) {
    following.onEntry?.(entryOf(`pod/large-uid/container/c${index}/image/0`));
    for (let each = 0; each < work.transitions; each += 1) following.onTransition?.();
    for (let each = 0; each < work.statuses; each += 1) following.onStatus?.(change);
    clock.elapsed += work.elapsedMs ?? 0;
    following.afterStep?.();
  }
  return violations;
}

test('a fact about one container may cost a few transitions and an occasional status', () => {
  expect(violationsOf({ transitions: 10, statuses: 0 })).toEqual([]);
  expect(violationsOf({ transitions: 10, statuses: 1, elapsedMs: PARTS })).toEqual([]);
});

test('a fact about one container that causes transitions of all containers is a violation', () => {
  expect(violationsOf({ transitions: PARTS, statuses: 0 })).toEqual([expect.stringContaining('10000 transitions')]);
});

test('a single step that causes transitions of all containers of a large pod is a violation', () => {
  const violations: string[] = [];
  // The invariant reads nothing else of the simulation.
  const watched = { host: { clock: { elapsed: 0 } } } as unknown as Watched;
  const following = cost.follow(watched, (message) => violations.push(message));
  const step = (actor: string, transitions: number) => {
    following.onEntry?.(entryOf(actor));
    for (let each = 0; each < transitions; each += 1) following.onTransition?.();
    following.afterStep?.();
  };
  step('pod/large-uid/0.pod.sandboxing.creatingSandbox.creating', 300);
  step('sources', 6 * PARTS);
  expect(violations).toEqual([]);
  step('pod/large-uid/0.pod.sandboxing.creatingSandbox.creating', 6 * PARTS);
  expect(violations).toEqual([expect.stringContaining('600 transitions after one entry for pod/large-uid/')]);
});

test('inspecting all containers for each fact about one of them is a violation', () => {
  expect(violationsOf({ transitions: 1, statuses: 1 })).toEqual([
    expect.stringContaining('computed statuses of parts of pods'),
  ]);
});
