/** Running out of memory on the host, played by the stories about unusual hosts. */
import { describe, expect, test } from '@jest/globals';
import { shortRunInvariants } from '../../../../testing/simulation/invariants/invariants.ts';
import { unusualHosts } from '../../../../testing/simulation/stories/pointed/foreignPods.ts';
import { playPointed } from '../../../../testing/simulation/stories/pointed/playPointed.ts';

const stories = Object.entries(unusualHosts).filter(([title]) => title.includes('runs out of memory'));

describe('each OOM kill is reported once, and only to its container, when', () => {
  test.each(stories)('%s', async (_, story) => {
    const kinds = new Set<string>();
    const onEvent = ({ reason }: { readonly reason: string }) => void kinds.add(reason);
    const counting = { description: 'It is told.', follow: () => ({ onEvent }) };
    const outcome = await playPointed(story, { invariants: [...shortRunInvariants, counting] });
    expect(outcome.violation).toBeUndefined();
    expect(kinds).toContain('SystemOOM');
    const survives = story.actions.some(({ action }) => action.kind === 'oom' && action.child);
    expect(kinds.has('ProcessOOMKilled')).toBe(survives);
  });
});
