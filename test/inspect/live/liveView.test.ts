import { isDeepStrictEqual } from 'node:util';
import { afterEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { InspectionEvent } from 'xstate';
import { LiveView } from '../../../inspect/live/liveView.ts';
import type { Frame } from '../../../inspect/protocol.ts';
import { type World, withFrame, worldOf } from '../../../web/model/server/world.ts';
import { podRunning, podWith } from '../../fakes/pods.ts';
import { type Simulation, simulation } from '../support/simulation.ts';

/** A viewer with the data that it has received. */
interface Following {
  world: World;
  readonly frames: Frame[];
  readonly leave: () => void;
}

const followings: Following[] = [];

afterEach(() => {
  for (const { leave } of followings.splice(0)) leave();
});

/** Subscribes to the view as the server does. After each frame, the viewer must have the current state. */
function follow(node: Simulation): Following {
  const { view } = node.page();
  const frames: Frame[] = [];
  const leave = view.follow((frame) => {
    frames.push(frame);
    following.world = withFrame(following.world, frame);
    expect(inOrder(following.world)).toEqual(inOrder(worldOf(node.now())));
  });
  const following: Following = { world: worldOf(view.snapshot()), frames, leave };
  followings.push(following);
  return following;
}

/** Returns a world sorted by key, without its time and the delay of the event loop. */
const inOrder = ({ node: { loop: _, ...node }, pods, actors, children }: World) => ({
  node,
  pods: [...pods].sort(byKey),
  actors: [...actors].sort(byKey),
  children: [...children].sort(byKey),
});

const byKey = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]) => (one < other ? -1 : 1);

/** Expects that every viewer has the current state after the next frame. */
async function expectSameWorlds(node: Simulation, viewers: readonly Following[]): Promise<void> {
  const differs = () => {
    const now = inOrder(worldOf(node.now()));
    return viewers.some(({ world }) => !isDeepStrictEqual(inOrder(world), now));
  };
  // Two seconds are less than the interval at which the delay of the event loop is sampled.
  for (let tries = 0; tries < 20 && differs(); tries += 1) await node.node.advance('100ms');
  expect(differs()).toBe(false);
}

type Action = (node: Simulation) => Promise<unknown>;

const actions: readonly Action[] = [
  ({ node }) => node.advance('30ms'),
  ({ node }) => node.advance('1s'),
  ({ node }) => node.advance('13s'),
  async ({ node }) => node.apply(podWith('web')),
  async ({ node }) => node.apply(podRunning('bad', 'exit 1')),
  async ({ node }) => node.apply(podRunning('brief', 'sleep 0')),
  async ({ node }) => node.remove('bad'),
  async ({ node }) => node.remove('web', 'brief'),
];

test('a snapshot and the frames after it yield the same state as a new snapshot, whenever a viewer joined', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ deed: fc.constantFrom(...actions), joins: fc.boolean() }), { minLength: 3, maxLength: 8 }),
      async (steps) => {
        const node = await simulation({ pods: [podWith('first')] });
        const viewers: Following[] = [];
        for (const { deed, joins } of steps) {
          await deed(node);
          if (joins) viewers.push(follow(node));
        }
        await expectSameWorlds(node, viewers);
        for (const { leave } of viewers) leave();
        node.node.killAgent();
      },
    ),
    { numRuns: 20 },
  );
});

test('a viewer that joins between two frames retains nothing that existed only between them', async () => {
  const node = await simulation();
  await node.node.advance('5s');
  const first = follow(node);
  await node.node.advance('1s');
  node.node.apply(podWith('brief'));
  await node.node.advance('0ms');
  const second = follow(node);
  node.node.remove('brief');
  await expectSameWorlds(node, [first, second]);
  await node.node.advance('2m');
  await expectSameWorlds(node, [first, second]);
});

test('at most ten frames a second are sent, and none without a change', async () => {
  const node = await simulation({ pods: [podWith('web'), podRunning('bad', 'exit 1')] });
  const { frames } = follow(node);
  await node.node.advance('1m');
  const moments = frames.map(({ at }) => at);
  expect(moments.length).toBeGreaterThan(5);
  for (const [index, at] of moments.slice(1).entries()) expect(at - (moments[index] ?? 0)).toBeGreaterThanOrEqual(100);
});

test('each line is sent once, and lines beyond the limit are counted', async () => {
  const node = await simulation();
  await node.node.advance('5s');
  const { frames } = follow(node);
  const told: string[] = [];
  node.page().audience.add({ line: ({ kind }) => told.push(kind) });
  const { onStateChange: moves } = node.page().audience.listeners;
  for (let count = 0; count < 250; count += 1) moves({ at: node.node.clock.now(), actor: 'pod/x', state: 'running' });
  await node.node.advance('100ms');
  expect(frames.map(({ lines, unsaid }) => [lines.length, unsaid])).toEqual([[200, 50]]);
  moves({ at: node.node.clock.now(), actor: 'pod/x', state: 'running' });
  await node.node.advance('100ms');
  expect(frames.slice(1).map(({ lines, unsaid }) => [lines.length, unsaid])).toEqual([[1, undefined]]);
  expect(told).toHaveLength(251);
});

test('without a viewer nothing is observed, and no timer is pending', async () => {
  const node = await simulation({ pods: [podWith('web')] });
  await node.node.advance('1m');
  node.now();
  const { pending } = node.node.clock;
  expect(node.observers()).toBe(0);
  const viewers = [follow(node), follow(node)];
  expect(node.observers()).toBe(1);
  expect(node.node.clock.pending).toBeGreaterThan(pending);
  expect(viewers[0]?.world.node.loop).toEqual({ p99Ms: 0, recentMs: [] });
  await node.node.advance('4s');
  expect(viewers[1]?.world.node.loop?.recentMs).toHaveLength(1);
  for (const { leave } of viewers) leave();
  expect(node.observers()).toBe(0);
  expect(node.node.clock.pending).toBe(pending);
  expect(node.page().view.snapshot().node).not.toHaveProperty('loop');
});

test('frames with only pod changes explain the node at most once a second', async () => {
  const node = await simulation({ pods: [podWith('web')] });
  await node.node.advance('1m');
  const { view, agent, audience } = node.page();
  let times = 0;
  const { explainNode } = agent;
  agent.explainNode = () => {
    times += 1;
    return explainNode();
  };
  const frames: Frame[] = [];
  const leave = view.follow((frame) => frames.push(frame));
  times = 0;
  const { onStateChange: moves, inspect } = audience.listeners;
  // An observer reads only the position of an actor.
  const container = { id: 'container/web', _parent: { id: 'pod/x', _parent: { id: 'nodeAgent' } } };
  for (let count = 0; count < 20; count += 1) {
    moves({ at: node.node.clock.now(), actor: 'pod/x', state: 'running' });
    inspect({ type: '@xstate.snapshot', actorRef: container } as unknown as InspectionEvent);
    await node.node.advance('100ms');
  }
  leave();
  expect(frames.length).toBeGreaterThanOrEqual(20);
  expect(times).toBeGreaterThanOrEqual(1);
  expect(times).toBeLessThan(6);
});

test('the content of a failed frame is included in the next one', async () => {
  const node = await simulation({ pods: [podRunning('bad', 'exit 1'), podWith('web')] });
  await node.node.advance('5s');
  const { agent, audience } = node.page();
  let isFailing = false;
  const errors: unknown[] = [];
  const redact: typeof agent.redact = (value) => {
    if (isFailing) throw new Error('it cannot be made');
    return agent.redact(value);
  };
  const view = new LiveView({
    agent: { ...agent, redact },
    audience,
    clock: node.node.clock,
    version: '0.1.0',
    recordedSpan: () => undefined,
    onError: (error) => void errors.push(error),
  });
  let world = worldOf(view.snapshot());
  let unsaid = 0;
  const leave = view.follow((frame) => {
    world = withFrame(world, frame);
    unsaid += frame.unsaid ?? 0;
  });
  isFailing = true;
  node.node.remove('web');
  node.node.apply(podWith('late'));
  await node.node.advance('5s');
  expect(errors.length).toBeGreaterThan(1);
  isFailing = false;
  // The frame about the latest changes is due by then.
  await node.node.advance('10300ms');
  leave();
  expect(inOrder(world)).toEqual(inOrder(worldOf(node.now())));
  expect([...world.pods.values()].map(({ name }) => name).sort()).toEqual(['bad', 'late']);
  expect(unsaid).toBeGreaterThan(0);
});
