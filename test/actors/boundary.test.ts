import { describe, expect, test } from '@jest/globals';
import { createActor, fromCallback } from 'xstate';
import { createBoundary, type NodeEnvironment, type RecordedInput } from '../../actors/boundary.ts';
import type { EventSink } from '../../actors/events/eventSink.ts';
import type { PortOutcome } from '../../actors/portOutcome.ts';
import { createReplay } from '../../actors/replay/replay.ts';
import type { TimerInput } from '../../machines/shared/waiting/timerInput.ts';
import { nextTask, Schedule } from '../../testing/simulation/run/schedule.ts';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { containerWith, IMAGE, podRunning, podWith } from '../fakes/pods.ts';

const START = Date.UTC(2026, 0, 1);
const REMOTE = 'registry.local/app:2';

/** Runs a node for a busy quarter of an hour in which something of everything happens. */
async function eventfulNode(events?: EventSink): Promise<SimulatedNode> {
  const node = await simulatedNode({
    ...(events ? { parts: { events } } : {}),
    pods: [podWith('web', { volumes: [{ name: 'scratch', emptyDir: {} }] }), podRunning('bad', 'exit 1')],
    runtime: { images: { registry: { [REMOTE]: {} } } },
    config: { startSlots: 2 },
  });
  await node.advance('5s');
  node.apply(
    podRunning('job', 'sleep 3', { restartPolicy: 'Never' }),
    podWith('short'),
    podRunning('more', 'sleep 40'),
  );
  await node.advance('20s');
  node.runtime.killSandbox(node.sandboxId('more'));
  node.apply(podWith('web', { containers: [containerWith('main', { image: REMOTE })] }));
  await node.advance('30s');
  node.runtime.down();
  node.remove('short');
  await node.advance('20s');
  node.runtime.restart();
  await node.advance('1m');
  node.runtime.faults.add({ call: 'createContainer', times: 2, error: { message: 'no space left' } });
  node.runtime.removeSandbox(node.sandboxId('web'));
  await node.advance('1m');
  return node;
}

const shown = ({ agent }: Pick<SimulatedNode, 'agent'>) => ({
  pods: agent.pods(),
  trees: Object.fromEntries(agent.trees()),
  overview: agent.overview(),
  node: agent.explainNode().node,
  why: ['web', 'bad', 'job', 'more'].map((name) => agent.explain(name)?.pod),
});

/**
 * Returns the time in milliseconds after which a timer fires, if the clock is set by `setBy` milliseconds after two
 * seconds.
 */
async function elapsesAfter(input: TimerInput, setBy = 0): Promise<number | undefined> {
  const schedule = new Schedule(START);
  let elapsed: number | undefined;
  const world = { ports: {}, feeds: {} } as unknown as NodeEnvironment; // a timer needs neither
  const clock = schedule.stoppableClock();
  const record = () => {
    elapsed ??= schedule.elapsed;
  };
  const { timer } = createBoundary(world, { clock, onError: () => {}, onInput: record });
  createActor(timer, { input }).start();
  await schedule.advance(2_000, nextTask);
  schedule.jump(setBy);
  await schedule.advance(7_200_000, nextTask);
  return elapsed;
}

describe('a timer', () => {
  test('runs for its full duration, even if the clock is set meanwhile', async () => {
    for (const setBy of [0, -3_600_000, 3_600_000]) {
      expect(await elapsesAfter({ after: 10_000 }, setBy)).toBe(10_000);
      expect(await elapsesAfter({ until: START + 10_000 }, setBy)).toBe(10_000);
    }
  });

  test('until a wall-clock time never waits longer than its maximum duration', async () => {
    expect(await elapsesAfter({ until: START + 3_600_000, within: 10_000 })).toBe(10_000);
    expect(await elapsesAfter({ until: START + 4_000, within: 10_000 })).toBe(4_000);
    expect(await elapsesAfter({ until: START - 1_000, within: 10_000 })).toBe(0);
  });

  test('for a displayed wall-clock time follows a changed clock as soon as it next checks it', async () => {
    expect(await elapsesAfter({ shown: START + 10_500 })).toBe(10_500);
    expect(await elapsesAfter({ shown: START - 1_000 })).toBe(0);
    expect(await elapsesAfter({ shown: START + 10_500 }, -3_600_000)).toBe(3_610_500);
    expect(await elapsesAfter({ shown: START + 10_500 }, 3_600_000)).toBe(3_000);
  });

  test('for a due time fires once the clock reaches that time or is set back by more than a small correction', async () => {
    expect(await elapsesAfter({ due: START + 3_600_000 })).toBe(3_600_000);
    expect(await elapsesAfter({ due: START - 1_000 })).toBe(0);
    expect(await elapsesAfter({ due: START + 3_600_000 }, 1_800_000)).toBe(1_800_000);
    expect(await elapsesAfter({ due: START + 3_600_000 }, 7_200_000)).toBe(10_000);
    expect(await elapsesAfter({ due: START + 3_600_000 }, -7_200_000)).toBe(10_000);
    // Synchronized clocks are corrected by amounts like this one.
    expect(await elapsesAfter({ due: START + 3_600_000 }, -60_000)).toBe(3_600_000);
  });
});

describe('the recording boundary', () => {
  test('assigns the same timestamp to all inputs of one turn, and a new one to later inputs', async () => {
    const entries: RecordedInput[] = [];
    let now = START;
    // Each reading of the clock returns a later time.
    const clock = { ...new Schedule(START).stoppableClock(), now: () => (now += 1_000) };
    const world = { ports: {}, feeds: {} } as unknown as NodeEnvironment; // the delivery of events needs neither
    const boundary = createBoundary(world, { clock, onError: () => {}, onInput: (entry) => void entries.push(entry) });
    const to = createActor(fromCallback(() => {})).start() as unknown as Parameters<typeof boundary.deliver>[0];
    const tell = () => boundary.deliver(to, { type: 'node.drain', at: START });
    tell();
    tell();
    await nextTask();
    expect(boundary.now()).toBe(entries[1]?.at);
    tell();
    await nextTask();
    const [first, second, third] = entries.map(({ at }) => at);
    expect(second).toBe(first);
    expect(third).toBeGreaterThan(second ?? 0);
    expect(boundary.now()).toBe(third);
  });

  test('passes only plain data that survives JSON unchanged', async () => {
    const { entries } = await eventfulNode();
    expect(entries.length).toBeGreaterThan(100);
    expect(JSON.parse(JSON.stringify(entries))).toStrictEqual(entries);
    expect(new Set(entries.map(({ kind }) => kind))).toEqual(new Set(['answer', 'failure', 'fact', 'elapsed']));
    const times = entries.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  test('produces a recording that brings a fresh agent to the same trees, statuses and explanations', async () => {
    const node = await eventfulNode();
    const before = node.runtime.calls.length;
    const entries: RecordedInput[] = JSON.parse(JSON.stringify(node.entries));
    const { agent, playEntries } = createReplay(node.agent.input, entries);
    const unexpected = await playEntries();
    expect(unexpected).toEqual([]);
    expect(shown({ agent })).toEqual(shown(node));
    expect(node.runtime.calls).toHaveLength(before);
    agent.stop();
  });

  test('produces a recording that a fresh agent can replay even if it starts with the adoption of running pods', async () => {
    const node = await eventfulNode();
    await node.restartAgent();
    await node.advance('30s');
    node.remove('bad');
    await node.advance('5s');
    const { agent, playEntries } = createReplay(node.agent.input, node.entries);
    expect(await playEntries()).toEqual([]);
    expect(agent.pods()).toEqual(node.agent.pods());
    agent.stop();
  });

  test('produces a recording from which a fresh agent emits the same events at the same times', async () => {
    const observed: unknown[] = [];
    const { agent: live, entries } = await eventfulNode((event) => void observed.push(event));
    const again: unknown[] = [];
    const { agent, playEntries } = createReplay(live.input, entries, { events: (event) => void again.push(event) });
    await playEntries();
    expect(observed.length).toBeGreaterThan(30);
    expect(again).toEqual(observed);
    agent.stop();
  });

  test('records the stop of the node as well', async () => {
    const node = await simulatedNode({
      pods: [podWith('web')],
      runtime: { behaviours: { [IMAGE]: { termAfterMs: 500 } } },
    });
    await node.advance('2s');
    const draining = node.agent.drain();
    await node.clock.advanceUntilSettled(draining);
    const { agent, playEntries } = createReplay(node.agent.input, node.entries);
    await playEntries();
    expect(agent.overview().state).toBe('stopped');
    expect(agent.trees().size).toBe(0);
  });
});

test('the port observer receives the input, output and duration of each call, and its own exceptions affect no call', async () => {
  const observed: PortOutcome[] = [];
  const answers = (answer: PortOutcome) => {
    observed.push(answer);
    throw new Error('miscounted');
  };
  const node = await simulatedNode({ pods: [podWith('web')], parts: { onPortOutcome: answers } });
  node.runtime.faults.add({ call: 'createContainer', times: 1, error: { message: 'no space left' } });
  await node.advance('20s');
  const of = (port: PortOutcome['port']) => observed.filter((answer) => answer.port === port);
  expect(of('runSandbox')).toMatchObject([
    { input: { attempt: 0 }, output: { state: 'ready' }, ms: expect.any(Number) },
  ]);
  expect(Number(of('runSandbox')[0]?.ms)).toBeGreaterThan(0);
  const [refused, ...others] = of('createContainer');
  expect(refused).toMatchObject({
    input: { container: 'main' },
    failure: { message: expect.stringContaining('space') },
  });
  expect(refused).not.toHaveProperty('output');
  expect(others).toMatchObject([{ output: { id: node.containerId('web') } }]);
  expect(new Set(node.errors.filter((each) => each.startsWith('metrics')))).toEqual(
    new Set(['metrics: Error: miscounted']),
  );
});
