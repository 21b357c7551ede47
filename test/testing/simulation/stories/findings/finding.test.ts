import { expect, test } from '@jest/globals';
import { createReplay } from '../../../../../actors/replay/replay.ts';
import type { Invariant } from '../../../../../testing/simulation/invariants/invariant.ts';
import { findViolation, formatFinding } from '../../../../../testing/simulation/stories/findings/finding.ts';
import { randomStory } from '../../../../../testing/simulation/stories/random/randomStory.ts';
import { noSandbox } from '../../noSandbox.ts';

const story = randomStory(3, { pods: 2, actions: 6, faults: 2, lastsMs: 30_000 });

test('a story that violates an invariant is reduced to the minimum, and can be replayed', async () => {
  const found = await findViolation(story, { invariants: [noSandbox] });
  expect(found).toMatchObject({ number: 5, message: 'a sandbox was made' });
  expect(found?.story.actions.map(({ action }) => action.kind)).toEqual(['apply']);
  expect(found?.story.faults).toEqual([]);
  const { input, entries = [] } = found?.recording ?? {};
  expect(entries.length).toBeGreaterThan(0);
  expect(input && (await createReplay(input, entries).playEntries())).toEqual([]);
  expect(found && formatFinding(found)).toMatch(/^seed 3: invariant 5, step \d+, [1-9]\d* ms: a sandbox was made/);
});

test('a reduced story retains the URL that its node polls', async () => {
  const asksUrl: Invariant = {
    number: 5,
    description: 'No URL is ever asked.',
    follow: (_watched, violated) => ({
      onCall: ({ target, name }) => {
        if (target === 'network' && name === 'fetch') violated('a URL was asked');
      },
    }),
  };
  const late = { at: 20_000, action: { kind: 'url', fault: 'silent', forMs: 1 } } as const;
  const found = await findViolation({ ...story, faults: [], actions: [late] }, { invariants: [asksUrl] });
  expect(found).toMatchObject({ message: 'a URL was asked', story: { actions: [], hasUrl: true } });
});

test('a story without a violation has no finding', async () => {
  expect(
    await findViolation({ ...story, faults: [] }, { invariants: [{ ...noSandbox, follow: () => ({}) }] }),
  ).toBeUndefined();
});
