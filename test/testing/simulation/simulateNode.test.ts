import { describe, expect, test } from '@jest/globals';
import type { SimulatedContainer } from '../../../cri/simulated/objects/views.ts';
import { foreignUnchanged } from '../../../testing/simulation/invariants/containers/foreignUnchanged.ts';
import type { Invariant } from '../../../testing/simulation/invariants/invariant.ts';
import { invariants } from '../../../testing/simulation/invariants/invariants.ts';
import { limitsOf } from '../../../testing/simulation/run/nodeConfig.ts';
import { simulateNode } from '../../../testing/simulation/simulateNode.ts';
import { container, manifest, staticPodName } from '../../../testing/simulation/stories/manifests.ts';
import { play } from '../../../testing/simulation/stories/play.ts';
import { randomStory } from '../../../testing/simulation/stories/random/randomStory.ts';
import { richStories } from '../../../testing/simulation/stories/scenarios/richStories.ts';
import { shortStories } from '../../../testing/simulation/stories/scenarios/shortStories.ts';

const SIZE = { pods: 3, actions: 12, faults: 0, lastsMs: 120_000 };

const digestOf = async (seed: number): Promise<string> => {
  const { simulation } = await play(randomStory(seed, SIZE), { invariants: [], traces: true });
  return simulation.digest();
};

test('a seed always gives the same trace, byte for byte, and a different seed a different one', async () => {
  const first = await digestOf(7);
  expect(await digestOf(7)).toBe(first);
  expect(await digestOf(8)).not.toBe(first);
});

/** Collects the recorded events of containers, and the events that are due for what happens in the runtime. */
function toldAndDue() {
  const [told, due]: [string[], string[]] = [[], []];
  const reasons = new Map([
    ['created', 'Created'],
    ['started', 'Started'],
    ['stopContainer', 'Killing'],
  ]);
  const isMeant = (reason: string) => [...reasons.values()].includes(reason);
  const follow: Invariant['follow'] = ({ host }) => {
    const owe = (what: string, { podName, podUid, containerName }: SimulatedContainer) => {
      // Pods of other agents have different name suffixes.
      if (!reasons.has(what) || !podName.endsWith('-node-1')) return;
      due.push(`${reasons.get(what)} ${podUid} spec.containers{${containerName}}`);
    };
    return {
      onEvent: ({ reason, involved: { uid, fieldPath } }) => {
        if (isMeant(reason)) told.push(`${reason} ${uid} ${fieldPath?.replace('initContainers', 'containers')}`);
      },
      onEffect: ({ kind, container: of }) => of && owe(kind, of),
      onCall: ({ name, about }) => {
        for (const of of host.running(({ id }) => id === about)) owe(name, of);
      },
    };
  };
  return { told, due, counting: { number: 8, description: 'Events are told.', follow } as const };
}

describe('every invariant holds without faults', () => {
  test.each(Object.entries({ ...shortStories, ...richStories }))('%s', async (_, story) => {
    const { told, due, counting } = toldAndDue();
    const { violation, steps } = await play(story, { invariants: [...invariants, counting] });
    expect(violation).toBeUndefined();
    expect(steps).toBeGreaterThan(20);
    // An invariant checks that none is recorded twice. This test checks that none is missing.
    expect(due.length).toBeGreaterThan(2);
    expect(told.toSorted()).toEqual(due.toSorted());
  });
});

test('a node runs the pods of its manifests, and terminates the pods whose manifests are removed', async () => {
  const node = await simulateNode({ seed: 1, invariants });
  const web = manifest('web');
  node.users.apply(web);
  await node.advance(5_000);
  expect(node.pods().map(({ status }) => status?.phase)).toEqual(['Running']);
  expect(node.explain('web')?.answer).toContain('running');
  node.users.remove(staticPodName(web));
  await node.advance(20_000);
  expect(node.pods()).toEqual([]);
  expect(node.host.podRemains()).toEqual([]);
  node.kill();
});

test('an agent adopts the running containers of a killed one', async () => {
  const node = await simulateNode({ seed: 2, invariants });
  node.users.apply(manifest('web', { containers: [container('main'), container('helper')] }));
  await node.advance(5_000);
  const before = node.host.containers().map(({ id }) => id);
  node.kill();
  await node.advance(10_000);
  await node.startAgent();
  await node.advance(5_000);
  expect(node.host.containers().map(({ id }) => id)).toEqual(before);
  expect(node.pods().map(({ status }) => status?.phase)).toEqual(['Running']);
  node.kill();
});

test.each([
  { name: 'readFileSync', of: 'allocations/', when: 'before' },
  { name: 'stat', of: 'manifests', when: 'after' },
] as const)('an agent can die at a call that would fail anyway: $name', async ({ name, of, when }) => {
  const paths: string[] = [];
  const node = await simulateNode({
    seed: 1,
    faults: ({ name: called, about }) => {
      if (called !== name || !about.includes(`/statelet/${of}`) || paths.length > 0) return undefined;
      paths.push(about);
      return { kind: 'death', when };
    },
  });
  node.apply(manifest('web'));
  await node.advance(2_000);
  expect(paths).toHaveLength(1);
  expect(paths.filter((path) => node.host.files.existsSync(path))).toEqual([]);
  expect(node.explainNode()).toBeUndefined();
  await node.advance(10_000);
  expect(node.pods().map(({ status }) => status?.phase)).toEqual(['Running']);
  node.kill();
});

test('the inputs of an agent are recorded on request', async () => {
  const node = await simulateNode({ seed: 3, records: true });
  node.users.apply(manifest('web'));
  await node.advance(5_000);
  const { entries = [] } = node.recording() ?? {};
  expect(entries.some(({ source }) => source === 'runSandbox')).toBe(true);
  node.kill();
});

test('a change of a foreign object violates an invariant, but a read does not', async () => {
  const { host, actionLog } = await simulateNode({ seed: 4 });
  const broken: string[] = [];
  const watched = {
    host,
    actionLog,
    cluster: undefined,
    agentNumber: 1,
    timers: 0,
    podOf: () => undefined,
    agent: undefined,
    root: undefined,
    ...limitsOf({}),
  };
  const { onCall } = foreignUnchanged.follow(watched, (message) => void broken.push(message));
  const call = { target: 'disk', about: '/simulated/lib/pods/foreign/volumes' } as const;
  onCall?.({ ...call, name: 'readdir', writes: false });
  expect(broken).toEqual([]);
  onCall?.({ ...call, name: 'removeTree', writes: true });
  expect(broken).toEqual(['disk removeTree of /simulated/lib/pods/foreign/volumes, which is foreign']);
});
