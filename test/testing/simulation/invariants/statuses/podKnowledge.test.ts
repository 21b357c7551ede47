import { expect, test } from '@jest/globals';
import type { PodChange } from '../../../../../actors/status/statusBoard.ts';
import { MAX_EFFECT_DELAY_MS } from '../../../../../testing/simulation/checks/causeTimes.ts';
import { PodKnowledge } from '../../../../../testing/simulation/invariants/statuses/podKnowledge.ts';

/** `PodKnowledge` reads only these fields of a change. */
const changeOf = (uid: string, state: object) =>
  ({ uid, removed: false, pod: { status: { containerStatuses: [{ state }] } } }) as unknown as PodChange;
const [runs, waits] = [{ running: { startedAt: null } }, { waiting: { reason: 'ContainerCreating' } }];

test('a cause must be current, unless the agent has just learned how the pod runs', () => {
  const attention = new PodKnowledge();
  attention.noteStatus(changeOf('a', runs), 1_000);
  attention.noteStatus(changeOf('a', runs), 500_000);
  attention.noteCall(600_000);
  expect(attention.causeTimeFor('a', 1_000 + MAX_EFFECT_DELAY_MS)).toBe(0);
  expect(attention.causeTimeFor('a', 1_001 + MAX_EFFECT_DELAY_MS)).toBe(1_001 + MAX_EFFECT_DELAY_MS);
  attention.noteAgentStart();
  expect(attention.causeTimeFor('a', 900_000)).toBe(600_000);
  attention.noteStatus(changeOf('a', waits), 900_000);
  expect(attention.causeTimeFor('a', 950_000 + MAX_EFFECT_DELAY_MS)).toBe(600_000);
});

test('the lifetime of an agent that never knew how a pod runs does not count for that pod', () => {
  const attention = new PodKnowledge();
  attention.noteStatus(changeOf('a', runs), 1_000);
  attention.noteCall(2_000);
  attention.noteAgentStart();
  attention.noteStatus(changeOf('a', waits), 3_000);
  attention.noteStatus(changeOf('b', runs), 3_000);
  attention.noteCall(800_000);
  attention.noteAgentStart();
  attention.noteStatus(changeOf('a', { terminated: {} }), 900_000);
  expect(attention.causeTimeFor('a', 900_001)).toBe(2_000);
  expect(attention.causeTimeFor('b', 900_001)).toBe(800_000);
  expect(attention.causeTimeFor('c', 900_001)).toBe(0);
});
