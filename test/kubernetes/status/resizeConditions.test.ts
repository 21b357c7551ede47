import { describe, expect, test } from '@jest/globals';
import type { PodCondition } from '../../../kubernetes/api/schema/status.ts';
import { rfc3339 } from '../../../kubernetes/api/values/rfc3339.ts';
import { resizeConditions } from '../../../kubernetes/status/resizeConditions.ts';
import type { PodView } from '../../../kubernetes/status/view.ts';
import { podView, running } from '../views.ts';

const pending = (reason: 'Deferred' | 'Infeasible', message: string, pendingGeneration: number): Partial<PodView> => ({
  updateRefusal: { reason, message },
  pendingGeneration,
});
const inProgress = (resizeGeneration: number, resizeFailure?: string): Partial<PodView> => ({
  isResizing: true,
  resizeGeneration,
  resizeFailure,
});

/**
 * Returns the conditions at each second from the epoch, with those of the previous second as input. The pod has
 * generation 9.
 */
function story(...views: Partial<PodView>[]): PodCondition[] {
  let before: PodCondition[] = [];
  for (const [second, over] of views.entries()) {
    const view = { ...podView({ main: { main: running() } }), ...over };
    before = resizeConditions(view, { previousConditions: before, now: second * 1_000, observedGeneration: 9 });
  }
  return before;
}
const at = (second: number) => rfc3339(second * 1_000);

describe('C25: the conditions of a resize', () => {
  test('have the generation that requested it, and transition times', () => {
    expect(story(pending('Deferred', 'no room', 2))).toEqual([
      {
        type: 'PodResizePending',
        status: 'True',
        reason: 'Deferred',
        message: 'no room',
        observedGeneration: 2,
        lastProbeTime: at(0),
        lastTransitionTime: at(0),
      },
    ]);
    expect(story(inProgress(3))).toEqual([
      {
        type: 'PodResizeInProgress',
        status: 'True',
        observedGeneration: 3,
        lastProbeTime: at(0),
        lastTransitionTime: at(0),
      },
    ]);
    expect(story({ isResizing: true })).toMatchObject([{ observedGeneration: 9 }]);
  });

  test.each<[string, Partial<PodView>[], { probe: number; transition: number }]>([
    ['stay while nothing changes', [inProgress(2), inProgress(2)], { probe: 0, transition: 0 }],
    ['an error is a transition', [inProgress(2), inProgress(2, 'busy')], { probe: 1, transition: 1 }],
    [
      'another error is none',
      [inProgress(2, 'busy'), inProgress(2, 'gone'), inProgress(2, 'gone')],
      { probe: 1, transition: 0 },
    ],
    ['another resize replaces the one before', [inProgress(2), inProgress(3)], { probe: 1, transition: 1 }],
    [
      'another reason is a transition',
      [pending('Deferred', 'no room', 2), pending('Infeasible', 'never', 2)],
      { probe: 1, transition: 1 },
    ],
    [
      'a pending resize of a later generation is none',
      [pending('Deferred', 'no room', 2), pending('Deferred', 'no room', 3)],
      { probe: 1, transition: 0 },
    ],
  ])('%s', (_, views, { probe, transition }) => {
    expect(story(...views)).toMatchObject([{ lastProbeTime: at(probe), lastTransitionTime: at(transition) }]);
  });
});
