import { describe, expect, test } from '@jest/globals';
import type { CallName } from '../../cri/simulated/faults/callNames.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { Death } from '../fakes/connection.ts';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { containerWith, podWith } from '../fakes/pods.ts';

const WRITES: readonly CallName[] = [
  'runPodSandbox',
  'stopPodSandbox',
  'removePodSandbox',
  'createContainer',
  'startContainer',
  'stopContainer',
  'removeContainer',
  'pullImage',
];

const web = (): Pod =>
  podWith('web', {
    volumes: [{ name: 'scratch', emptyDir: {} }],
    initContainers: [containerWith('setup', { command: ['true'] })],
    containers: [containerWith('main'), containerWith('helper')],
  });

/** Returns the number of running containers by container name. */
function runningNow(node: SimulatedNode): Record<string, number> {
  const { containers } = node.runtime.contents();
  const names = containers.filter(({ state }) => state === 1).map(({ metadata }) => metadata?.name ?? '');
  return Object.fromEntries([...new Set(names)].map((name) => [name, names.filter((each) => each === name).length]));
}

/** Advances time in small steps. No container may run twice at any step. */
async function advanceWatching(node: SimulatedNode, steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await node.advance('50ms');
    for (const [name, count] of Object.entries(runningNow(node))) expect([name, count]).toEqual([name, 1]);
  }
}

const deadOf = (node: SimulatedNode, name: string): number =>
  node.runtime.contents().containers.filter(({ metadata, state }) => metadata?.name === name && state === 2).length;

/** Returns the agent's calls in the script, which are the calls that a death can interrupt. */
async function callsOf(script: (death?: Death) => Promise<SimulatedNode>): Promise<readonly CallName[]> {
  const node = await script();
  return [...node.agentCalls];
}

/**
 * Whether to try this kind of death at a call. A read changes nothing, so the outcome of both kinds is the same, and
 * only `undone` is tried.
 */
const isDistinct = (callIs: Death['callIs'], call: CallName | undefined): boolean =>
  callIs === 'undone' || (call !== undefined && WRITES.includes(call));

async function startScript(death?: Death): Promise<SimulatedNode> {
  const node = await simulatedNode({ pods: [web()], ...(death ? { death } : {}) });
  await advanceWatching(node, 20);
  return node;
}

async function removalScript(death?: Death): Promise<SimulatedNode> {
  const node = await simulatedNode({ pods: [web()] });
  await node.advance('2s');
  await node.restartAgent(death);
  node.remove('web');
  await advanceWatching(node, 20);
  return node;
}

describe('an agent killed at any call', () => {
  test.each(['undone', 'unheard'] as const)(
    "during a pod's start (call %s) is followed by one that completes the start",
    async (callIs) => {
      const calls = await callsOf(startScript);
      expect(calls.filter((call) => WRITES.includes(call)).length).toBeGreaterThanOrEqual(7);
      for (let atCall = 1; atCall <= calls.length; atCall++) {
        if (!isDistinct(callIs, calls[atCall - 1])) continue;
        const node = await startScript({ atCall, callIs });
        expect(node.isAlive).toBe(false);
        const ran = node.runtime
          .contents()
          .containers.filter(({ state }) => state === 1)
          .map(({ id }) => id);
        const cutOff = deadOf(node, 'main') + deadOf(node, 'helper');
        await node.startAgent();
        await advanceWatching(node, 20);
        await node.advance('20s');
        const moment = `${callIs} call ${atCall}, ${calls[atCall - 1]}`;
        expect([moment, node.pod('web').phase, runningNow(node)]).toEqual([moment, 'Running', { main: 1, helper: 1 }]);
        // A start that is cut off leaves a dead container, which counts as a run.
        const restarts = node.container('web').restartCount + node.container('web', 'helper').restartCount;
        expect([moment, restarts]).toEqual([moment, cutOff]);
        expect([moment, node.runtime.contents().sandboxes.length]).toEqual([moment, 1]);
        for (const id of ran) {
          const now = node.runtime.contents().containers.find((container) => container.id === id);
          if (now?.metadata?.name !== 'setup') expect([moment, now?.state]).toEqual([moment, 1]);
        }
        await node.end();
      }
    },
  );

  test.each(['undone', 'unheard'] as const)(
    "during a pod's removal (call %s) is followed by one that completes the removal",
    async (callIs) => {
      const calls = await callsOf(removalScript);
      expect(calls.filter((call) => WRITES.includes(call)).length).toBeGreaterThanOrEqual(4);
      for (let atCall = 1; atCall <= calls.length; atCall++) {
        if (!isDistinct(callIs, calls[atCall - 1])) continue;
        const node = await removalScript({ atCall, callIs });
        await node.startAgent();
        await node.advance('40s');
        expect([`${callIs} call ${atCall}, ${calls[atCall - 1]}`, await node.leftovers()]).toEqual([
          expect.anything(),
          [],
        ]);
        await node.end();
      }
    },
  );
});
