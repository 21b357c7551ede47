import { expect, test } from '@jest/globals';
import { bounded } from '../../../simulation/invariants/bounded.ts';
import type { Following, Invariant, Watched } from '../../../simulation/invariants/invariant.ts';
import { container, manifest } from '../../../simulation/stories/manifests.ts';
import { play } from '../../../simulation/stories/play.ts';
import type { Story } from '../../../simulation/stories/story.ts';

const crashing = manifest('web', { containers: [container('main', { command: ['sh', '-c', 'sleep 3; exit 1'] })] });
const story: Story = {
  ...{ seed: 1, faults: [], lastsMs: 30_000 },
  moments: [{ at: 0, deed: { kind: 'apply', pod: crashing } }],
};

/** What an agent keeps that forgets nothing, after so many starts of containers. */
type Kept = (starts: number) => object;

/** The invariant, over an agent whose contexts hold this as well for as long as it lives. */
const leaking = (kept: Kept): Invariant => ({
  ...bounded,
  follow: (watched, violated): Following => {
    let starts = 0;
    const leaky: Watched = Object.create(watched, {
      agent: {
        get: () => {
          const { agent } = watched;
          return agent && { ...agent, keyframe: () => ({ ...agent.keyframe(), ...kept(starts) }) };
        },
      },
    });
    return {
      ...bounded.follow(leaky, violated),
      onLifeBegan: () => {
        starts = 0;
      },
      onEffect: ({ kind, container }) => {
        if (kind === 'started' && container !== undefined) starts += 1;
      },
    };
  },
});

const brokenBy = async (invariant: Invariant) => (await play(story, { invariants: [invariant] })).violation;

test('one entry that is kept for each restart of a container is found when the pod is gone', async () => {
  const leaked = await brokenBy(leaking((starts) => ({ kept: Array.from({ length: starts }, () => '0'.repeat(64)) })));
  expect(leaked).toMatchObject({ number: 9, message: expect.stringContaining('bytes of contexts, where') });
});

test('what a call that is just under way was given is no leak', async () => {
  expect(await brokenBy(leaking((starts) => ({ call: { input: '0'.repeat(64 * starts) } })))).toBeUndefined();
});

test('what does not grow with the run is no leak', async () => {
  expect(await brokenBy(bounded)).toBeUndefined();
  expect(
    await brokenBy(leaking(() => ({ kept: ['a', 'few', 'names', 'that', 'are', 'always', 'there'] }))),
  ).toBeUndefined();
  const failure = { reason: 'StoreFailed', message: '0'.repeat(200), at: 0 };
  expect(await brokenBy(leaking((starts) => (starts > 2 ? { failure } : {})))).toBeUndefined();
});

test('an actor and timers that are left over are found', () => {
  const told: string[] = [];
  const now = { actors: 1, timers: 7, life: 1 };
  const leaf = { getSnapshot: () => ({}) };
  const watched = {
    ...{ deeds: { wanted: new Map() }, agent: { keyframe: () => ({}) } },
    root: {
      getSnapshot: () => ({ children: Object.fromEntries(Array.from({ length: now.actors }, (_, at) => [at, leaf])) }),
    },
    get timers() {
      return now.timers;
    },
    get life() {
      return now.life;
    },
  };
  // Of the simulation it looks at nothing else.
  const { settled } = bounded.follow(watched as unknown as Watched, (message) => void told.push(message));
  settled?.();
  Object.assign(now, { actors: 2, timers: 10 });
  settled?.();
  expect(told).toEqual([
    'of an agent without pods: 3 actors, where 2 are enough',
    'of an agent without pods: 10 timers, where 7 are enough',
  ]);
  Object.assign(now, { actors: 1, timers: 7, life: 2 });
  settled?.();
  expect(told).toHaveLength(4);
});
