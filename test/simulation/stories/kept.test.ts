import { expect, test } from '@jest/globals';
import { invariants } from '../../../simulation/invariants/all.ts';
import { container, manifest } from '../../../simulation/stories/manifests.ts';
import { play } from '../../../simulation/stories/play.ts';
import type { Moment, Story } from '../../../simulation/stories/story.ts';

const SECOND = 1_000;
const told = (...moments: Moment[]): Story => ({ seed: 1, faults: [], lastsMs: 90 * SECOND, moments });

const withSetup = manifest('web', {
  initContainers: [container('setup', { command: ['sh', '-c', 'sleep 1'] })],
  containers: [container('main')],
});
const crashing = manifest('web', { containers: [container('main', { command: ['sh', '-c', 'sleep 3; exit 1'] })] });
const otherImage = manifest('web', { containers: [container('main', { image: 'registry.local/other:1' })] });

/** What drawn stories have broken, as short as it can be told. */
const kept: Readonly<Record<string, Story>> = {
  'C3: init containers run again in the sandbox that a pod gets after the power was gone': told(
    { at: 0, deed: { kind: 'apply', pod: withSetup } },
    { at: 20 * SECOND, deed: { kind: 'powerCut', downMs: SECOND } },
  ),
  'C3: init containers run again where the sandbox died while no agent lived': told(
    { at: 0, deed: { kind: 'apply', pod: withSetup } },
    { at: 20 * SECOND, deed: { kind: 'killAgent', downMs: 5 * SECOND } },
    { at: 21 * SECOND, deed: { kind: 'killSandbox', which: 0 } },
  ),
  'restarts are counted on over a clock that was set back': told(
    { at: 0, deed: { kind: 'apply', pod: crashing } },
    { at: 20 * SECOND, deed: { kind: 'jump', ms: -3_600 * SECOND } },
    { at: 60 * SECOND, deed: { kind: 'killAgent', downMs: 0 } },
  ),
  'an API server hears nothing of a pod that no source wants any more and of which nothing is known': told(
    { at: 0, deed: { kind: 'apply', pod: withSetup } },
    { at: 20 * SECOND, deed: { kind: 'killAgent', downMs: 20 * SECOND } },
    { at: 21 * SECOND, deed: { kind: 'apply', pod: otherImage } },
    { at: 22 * SECOND, deed: { kind: 'removeSandbox', which: 0 } },
  ),
};

test.each(Object.entries(kept))('%s', async (_, story) => {
  expect((await play(story, { invariants })).violation).toBeUndefined();
});
