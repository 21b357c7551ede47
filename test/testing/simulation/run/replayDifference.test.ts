import { describe, expect, test } from '@jest/globals';
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { createReplay } from '../../../../actors/replay/replay.ts';
import type { CallFault } from '../../../../testing/simulation/run/gate.ts';
import { simulateNode } from '../../../../testing/simulation/simulateNode.ts';
import { container, manifest } from '../../../../testing/simulation/stories/manifests.ts';
import { play } from '../../../../testing/simulation/stories/play.ts';
import { randomStory } from '../../../../testing/simulation/stories/random/randomStory.ts';
import type { Action } from '../../../../testing/simulation/stories/story.ts';

const SIZE = { pods: 3, actions: 15, faults: 8, lastsMs: 120_000 };

test.each([1, 2, 3])(
  'each agent run of a random story replays to the same pods, actor trees and node: seed %i',
  async (seed) => {
    const { violation } = await play(randomStory(seed, SIZE), { invariants: [], replays: true });
    expect(violation).toBeUndefined();
  },
);

/** Records a node with a pod whose container fails repeatedly. */
async function recorded() {
  const node = await simulateNode({ seed: 1, records: true });
  node.apply(manifest('web', { containers: [container('main', { command: ['sh', '-c', 'sleep 3; exit 1'] })] }));
  await node.advance(60_000);
  return node;
}

test('a recording is plain JSON, and can be replayed completely', async () => {
  const node = await recorded();
  const { input, entries } = JSON.parse(JSON.stringify(node.recording()));
  const { agent, playEntries: replay } = createReplay(input, entries);
  expect(await replay()).toEqual([]);
  expect(agent.pods()).toEqual(node.pods());
  node.kill();
});

test('a replay with a different result violates invariant 8', async () => {
  const node = await recorded();
  await node.checkReplay();
  const entries = [...(node.recording()?.entries ?? [])];
  const exits = entries.filter(({ source }) => source === 'startContainer');
  const { input } = node.recording() ?? {};
  if (input === undefined) throw new Error('nothing was recorded');
  expect(exits.length).toBeGreaterThan(1);
  node.recording = () => ({ input, entries: entries.filter((each) => each !== exits.at(-1)) });
  await expect(node.checkReplay()).rejects.toThrow(
    /invariant 8.*the replay of the recording differs: \.pods\.0\.status/,
  );
  node.kill();
});

test('a stopped agent that waits for its disk has no actors to compare with', async () => {
  const node = await simulateNode({
    seed: 1,
    records: true,
    faults: ({ name, about }, _, elapsed) =>
      name === 'rename' && about.includes('/allocations/') && elapsed >= 20_000 ? { kind: 'hang' } : undefined,
  });
  node.apply(manifest('web'));
  await node.advance(20_000);
  node.apply(manifest('db'));
  await node.advance(1_000);
  void node.stopAgent({ drains: false, downMs: 60_000 });
  await node.advance(1_000);
  await node.checkReplay();
  expect(node.pods()).toHaveLength(1);
  // The agent waits no longer for a call that hangs than for a slow one.
  await node.advance(10_000);
  expect(node.pods()).toHaveLength(0);
  node.kill();
});

test.each([
  ['that is reported once it is on disk', { call: 'rename', about: '/statuses/' }],
  ['that cannot be saved', { call: 'writeFile', about: '/statuses/' }],
])(
  'a replay does not wait for the disk: a node with a status %s replays to the same state',
  async (_, { call, about }) => {
    const node = await simulateNode({
      seed: 1,
      records: true,
      faults: ({ name, about: path }) =>
        name === call && path.includes(about) ? { kind: call === 'rename' ? 'hang' : 'fail' } : undefined,
    });
    const once = {
      restartPolicy: 'Never',
      containers: [container('main', { command: ['sh', '-c', 'sleep 3; exit 1'] })],
    };
    node.apply(manifest('web', once));
    for (let second = 0; second < 8; second += 1) {
      await node.advance(1_000);
      await node.checkReplay();
    }
    node.kill();
  },
);

test('values that may be secret are not recorded, and do not affect the replay', async () => {
  const node = await simulateNode({ seed: 1, records: true });
  const lifecycle = { postStart: { exec: { command: ['sh', '-c', 'login hunter2-of-it'] } } };
  const env = [{ name: 'PASSWORD', value: 'hunter2-of-it' }];
  node.apply(manifest('web', { containers: [container('main', { env, lifecycle })] }));
  await node.advance(20_000);
  await node.checkReplay();
  expect(JSON.stringify(node.pods())).toContain('hunter2-of-it');
  expect(JSON.stringify(node.recording())).not.toContain('hunter2-of-it');
  node.kill();
});

test('a value that turns out to be secret after it was recorded does not affect the replay', async () => {
  const node = await simulateNode({ seed: 1, records: true });
  const command = ['sh', '-c', 'sleep 1d; exit 1'];
  node.apply(manifest('web', { containers: [container('main', { command })] }));
  await node.advance(10_000);
  node.apply(manifest('db', { containers: [container('main', { lifecycle: { postStart: { exec: { command } } } })] }));
  await node.advance(10_000);
  await node.checkReplay();
  node.kill();
});

/** Returns the root actor if the event is a snapshot of it. */
function rootOf({ type, actorRef }: InspectionEvent): AnyActorRef | undefined {
  // All actors of the simulation are created by XState, so the cast is safe.
  const ref = actorRef as AnyActorRef;
  return type === '@xstate.snapshot' && ref._parent === undefined ? ref : undefined;
}

/** Adds a warning to the context that no recorded input has caused, so that a replay differs. */
const warnItself = (event: InspectionEvent): void => {
  const root = rootOf(event);
  if (root === undefined) return;
  Object.assign(root.getSnapshot().context.warnings, { own: [{ reason: 'Own', message: 'of nobody', at: 0 }] });
};

describe('the life of an agent is replayed, however the agent exits', () => {
  const deaths = (['before', 'during', 'after'] as const).map((when): CallFault => ({ kind: 'death', when }));
  const differs = /invariant 8.*the replay of the recording differs: \.overview\.warnings/;

  test.each(deaths)('by the fault %j', async (fault) => {
    const node = await simulateNode({
      seed: 1,
      replays: true,
      inspect: warnItself,
      faults: ({ name, about }) => (name === 'writeFile' && about.includes('/etc-hosts') ? fault : undefined),
    });
    node.apply(manifest('web'));
    await expect(node.advance(20_000)).rejects.toThrow(differs);
    node.kill();
  });

  test('by a failure whose reason was not recorded', async () => {
    const giveUp = (event: InspectionEvent) =>
      queueMicrotask(() => rootOf(event)?.send({ type: 'feed.ended', feed: 'ticker', at: 0 }));
    await expect(simulateNode({ seed: 1, replays: true, inspect: giveUp })).rejects.toThrow(
      /the replay of the recording differs/,
    );
  });

  test.each<Action>([
    { kind: 'killAgent', downMs: 1_000 },
    { kind: 'powerCut', downMs: 1_000 },
    { kind: 'stopAgent', drains: true, downMs: 1_000 },
  ])('by the action %j', async (action) => {
    const node = await simulateNode({ seed: 1, replays: true, inspect: warnItself });
    node.apply(manifest('web'));
    await node.advance(20_000);
    node.perform(action);
    await expect(node.advance(60_000)).rejects.toThrow(differs);
    node.kill();
  });
});

test('a simulation has the same trace with and without replays', async () => {
  const digests = [true, false].map(async (replays) => {
    const { simulation } = await play(randomStory(5, SIZE), { invariants: [], replays, traces: true, records: true });
    return simulation.digest();
  });
  const [replayed, other] = await Promise.all(digests);
  expect(replayed).toBe(other);
});
