import { expect, test } from '@jest/globals';
import { createReplay } from '../../../../actors/replay/replay.ts';
import type { Invariant } from '../../../../testing/simulation/invariants/invariant.ts';
import { drawnStory } from '../../../../testing/simulation/stories/drawnStory.ts';
import { foundText, whatItBreaks } from '../../../../testing/simulation/stories/found.ts';
import { noSandbox } from '../noSandbox.ts';

const story = drawnStory(3, { pods: 2, deeds: 6, faults: 2, lastsMs: 30_000 });

test('a story that breaks an invariant is told with no more than it takes, and can be replayed', async () => {
  const found = await whatItBreaks(story, { invariants: [noSandbox] });
  expect(found).toMatchObject({ number: 5, message: 'a sandbox was made' });
  expect(found?.story.moments.map(({ deed }) => deed.kind)).toEqual(['apply']);
  expect(found?.story.faults).toEqual([]);
  const { input, entries = [] } = found?.recording ?? {};
  expect(entries.length).toBeGreaterThan(0);
  expect(input && (await createReplay(input, entries).play())).toEqual([]);
  expect(found && foundText(found)).toMatch(/^seed 3: invariant 5, step \d+, [1-9]\d* ms: a sandbox was made/);
});

test('a story that is made shorter keeps the URL that its node asks', async () => {
  const asksUrl: Invariant = {
    number: 5,
    says: 'No URL is ever asked.',
    follow: (_watched, violated) => ({
      onCall: ({ room, name }) => {
        if (room === 'network' && name === 'fetch') violated('a URL was asked');
      },
    }),
  };
  const late = { at: 20_000, deed: { kind: 'url', trouble: 'silent', forMs: 1 } } as const;
  const found = await whatItBreaks({ ...story, faults: [], moments: [late] }, { invariants: [asksUrl] });
  expect(found).toMatchObject({ message: 'a URL was asked', story: { moments: [], hasUrl: true } });
});

test('of a story that breaks nothing there is nothing to tell', async () => {
  expect(
    await whatItBreaks({ ...story, faults: [] }, { invariants: [{ ...noSandbox, follow: () => ({}) }] }),
  ).toBeUndefined();
});
