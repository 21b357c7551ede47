import { expect, test } from '@jest/globals';
import type { Keyframe } from '../../../../../actors/node/nodeAgent.ts';
import type { Hooks, Invariant, Watched } from '../../../../../testing/simulation/invariants/invariant.ts';
import { bounded } from '../../../../../testing/simulation/invariants/resources/bounded.ts';
import { container, manifest } from '../../../../../testing/simulation/stories/manifests.ts';
import { play } from '../../../../../testing/simulation/stories/play.ts';
import type { Story } from '../../../../../testing/simulation/stories/story.ts';

const crashing = manifest('web', { containers: [container('main', { command: ['sh', '-c', 'sleep 3; exit 1'] })] });
const story: Story = {
  seed: 1,
  faults: [],
  lastsMs: 30_000,
  actions: [{ at: 0, action: { kind: 'apply', pod: crashing } }],
};

/** Returns the data that a leaking agent retains after this number of container starts. */
type Kept = (starts: number) => object;

/** Returns the invariant over an agent whose keyframe also contains the leak. */
const leaking = (kept: Kept): Invariant => ({
  ...bounded,
  follow: (watched, violated): Hooks => {
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
      onAgentStarted: () => {
        starts = 0;
      },
      onEffect: ({ kind, container }) => {
        if (kind === 'started' && container !== undefined) starts += 1;
      },
    };
  },
});

const brokenBy = async (invariant: Invariant) => (await play(story, { invariants: [invariant] })).violation;

test('an entry that is retained for each restart of a container is detected when the pod is gone', async () => {
  const leaked = await brokenBy(leaking((starts) => ({ kept: Array.from({ length: starts }, () => 0) })));
  expect(leaked).toMatchObject({ number: 9, message: expect.stringContaining(' entries in keyframe.kept, but ') });
});

test('a growing string is detected', async () => {
  const leaked = await brokenBy(leaking((starts) => ({ kept: '0'.repeat(starts * 1_000) })));
  expect(leaked).toMatchObject({ number: 9, message: expect.stringContaining('characters in keyframe.kept, but ') });
});

test('the input of a call in progress is not a leak', async () => {
  const kept = (starts: number) => ({ snapshot: { input: Array.from({ length: starts }, () => 0) } });
  expect(await brokenBy(leaking(kept))).toBeUndefined();
});

test('values that do not grow with the duration of the run are not a leak', async () => {
  expect(await brokenBy(bounded)).toBeUndefined();
  expect(
    await brokenBy(leaking(() => ({ kept: ['a', 'few', 'names', 'that', 'are', 'always', 'there'] }))),
  ).toBeUndefined();
  expect(await brokenBy(leaking((starts) => ({ count: 10 ** starts })))).toBeUndefined();
});

test('the last failure is not a leak, but additional data in it is', async () => {
  const failure = { reason: 'StoreFailed', message: '0'.repeat(200), at: 0 };
  const after = (more: object) =>
    brokenBy(leaking((starts) => (starts > 0 ? { failure: { ...failure, ...more } } : {})));
  expect(await after({})).toBeUndefined();
  expect(await after({ all: [] })).toMatchObject({ number: 9 });
  expect(await after({ message: '0'.repeat(2_000) })).toMatchObject({ number: 9 });
});

/**
 * Returns the violations for an agent that settles with the keyframe `first` and then with `then`, of the same or of a
 * new agent.
 */
function violationsOf(first: object, then: object, by: 'itself' | 'another'): string[] {
  const violations: string[] = [];
  let [frame, life] = [first, 1];
  const watched = {
    actionLog: { wanted: new Map() },
    timers: 0,
    root: { getSnapshot: () => ({}) },
    agent: { keyframe: () => frame },
    get agentNumber() {
      return life;
    },
  };
  // The invariant reads nothing else of the simulation.
  const { settled } = bounded.follow(watched as unknown as Watched, (message) => void violations.push(message));
  settled?.();
  [frame, life] = [then, by === 'itself' ? 1 : 2];
  settled?.();
  return violations;
}

/** Returns the keyframe of an agent without pods. */
async function writtenDown(): Promise<Keyframe> {
  const frames: Keyframe[] = [];
  const follow: Invariant['follow'] = (watched) => ({
    settled: () => {
      if (watched.agent && watched.actionLog.wanted.size === 0) frames.push(watched.agent.keyframe());
    },
  });
  await play(story, { invariants: [{ ...bounded, follow }] });
  const [last] = frames.slice(-1);
  if (last === undefined) throw new Error('it has not settled');
  return last;
}

/** Returns the paths of the lists and maps in the actors' contexts. */
function kept(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.entries(value).flatMap(([key, each]) => kept(each, [...path, key]));
  return path.includes('context') ? [path, ...below] : below;
}

/** Returns a copy of the value with one more entry at the path. */
function withOneMore(value: unknown, [key, ...below]: readonly string[]): unknown {
  if (Array.isArray(value) && key === undefined) return [...value, 0];
  if (key === undefined) return { ...(value as object), more: 0 };
  const changed = withOneMore(Reflect.get(value as object, key), below);
  return Array.isArray(value) ? value.with(Number(key), changed) : { ...(value as object), [key]: changed };
}

test('an additional entry is detected in every list and map in the context of every actor', async () => {
  const frame = await writtenDown();
  const places = kept(frame);
  const actors = ['admission', 'cgroups', 'garbage', 'logRotation', 'pullLimiter', 'startLimiter', 'statusSink/api'];
  for (const actor of actors) expect(places.some((place) => place.includes(actor))).toBe(true);
  const unseen = places.filter(
    (place) => violationsOf(withOneMore(frame, place) as object, frame, 'another').length !== 1,
  );
  expect(unseen).toEqual([]);
  for (const by of ['itself', 'another'] as const) expect(violationsOf(frame, structuredClone(frame), by)).toEqual([]);
});

test('a repeated warning is not a leak, but a warning that a new agent does not have is', () => {
  const [without, warned] = [{ warnings: [] }, { warnings: ['other cgroups'] }];
  expect(violationsOf(without, warned, 'itself')).toEqual([]);
  expect(violationsOf({ kept: [] }, { kept: [0] }, 'itself')).toHaveLength(1);
  expect(violationsOf(warned, without, 'another')).toEqual([
    'an agent without pods has 1 entries in keyframe.warnings, but 0 would be enough',
  ]);
});

test('nothing is compared while ResourceSlices of the node are being deleted, because a new agent deletes them as well', () => {
  const violations: string[] = [];
  const now = { entries: 2, agentNumber: 1, isDeletingSlices: true };
  const claims = {
    getSnapshot: () => ({ children: now.isDeletingSlices ? { slices: { getSnapshot: () => ({}) } } : {} }),
  };
  const watched = {
    actionLog: { wanted: new Map() },
    timers: 0,
    root: { getSnapshot: () => ({ value: 'running', children: { claims } }) },
    agent: { keyframe: () => ({ kept: Array.from({ length: now.entries }, () => 0) }) },
    get agentNumber() {
      return now.agentNumber;
    },
  };
  // The invariant uses nothing else of the simulation.
  const { settled } = bounded.follow(watched as unknown as Watched, (message) => void violations.push(message));
  settled?.();
  Object.assign(now, { entries: 1, agentNumber: 2, isDeletingSlices: false });
  settled?.();
  expect(violations).toEqual([]);
  Object.assign(now, { agentNumber: 3, entries: 0 });
  settled?.();
  expect(violations).toEqual(['an agent without pods has 1 entries in keyframe.kept, but 0 would be enough']);
});

test('leftover actors and timers are detected', () => {
  const violations: string[] = [];
  const now = { actors: 1, timers: 7, agentNumber: 1 };
  const leaf = { getSnapshot: () => ({}) };
  const watched = {
    actionLog: { wanted: new Map() },
    agent: { keyframe: () => ({}) },
    root: {
      getSnapshot: () => ({ children: Object.fromEntries(Array.from({ length: now.actors }, (_, at) => [at, leaf])) }),
    },
    get timers() {
      return now.timers;
    },
    get agentNumber() {
      return now.agentNumber;
    },
  };
  // The invariant reads nothing else of the simulation.
  const { settled } = bounded.follow(watched as unknown as Watched, (message) => void violations.push(message));
  settled?.();
  Object.assign(now, { actors: 2, timers: 10 });
  settled?.();
  expect(violations).toEqual([
    'an agent without pods has 3 actors, but 2 would be enough',
    'an agent without pods has 10 timers, but 7 would be enough',
  ]);
  Object.assign(now, { actors: 1, timers: 7, agentNumber: 2 });
  settled?.();
  expect(violations).toHaveLength(4);
});

test.each(['itself', 'another'] as const)('a nested state is not a leak: compared with %s', (by) => {
  const inState = (value: unknown, ...kept: readonly number[]) => ({
    cgroups: { snapshot: { value, context: { kept } } },
  });
  const [flat, nested] = ['settingUp', { enforced: 'waiting' }];
  expect(violationsOf(inState(flat), inState(nested), by)).toEqual([]);
  expect(violationsOf(inState(nested), inState(flat), by)).toEqual([]);
  const [less, more] = [inState(nested), inState(nested, 1)];
  expect(by === 'itself' ? violationsOf(less, more, by) : violationsOf(more, less, by)).toHaveLength(1);
});

test('an agent that has not read all of its sources is not compared with one that has', async () => {
  const late: Story = {
    seed: 3_005_894,
    faults: [],
    lastsMs: 30_000,
    overtakes: true,
    hasUrl: true,
    actions: [
      { at: 19_876, action: { kind: 'url', fault: 'hanging', forMs: 21_411 } },
      { at: 22_302, action: { kind: 'stopAgent', drains: true, downMs: 0 } },
    ],
  };
  expect((await play(late, { invariants: [bounded] })).violation).toBeUndefined();
});
