import { setTimeout as pause } from 'node:timers/promises';
import { type AgentProcess, startAgent } from '../agentProcess.ts';
import { countingProxy } from '../countingProxy.ts';
import { type BenchNode, endPods, fullNameOf, namesFor, runPods } from '../node.ts';
import type { Figure } from '../report.ts';
import { median, milliseconds } from '../statistics.ts';
import type { RunningPod } from '../watcher.ts';

const PODS = 50;
/** Time for a few relists and a health check. */
const LOOK_ON_MS = 6_000;
/** Time after which a daemon has saved its compiled code. */
const SETTLED_MS = 11_000;

/**
 * Measures the restart of an agent with fifty running pods, from its start until its watcher has received all of them
 * as running.
 */
export async function adoption(node: BenchNode, repeats: number): Promise<Figure[]> {
  const names = namesFor('adopt', PODS);
  let agent = startAgent(node.place);
  try {
    const { pods } = await runPods(node.place, agent, names);
    const times: number[] = [];
    await pause(SETTLED_MS);
    for (let index = 0; index < repeats; index += 1) {
      await pause(500);
      await agent.end('SIGKILL');
      agent = startAgent(node.place);
      times.push((await adopted(agent, pods, names)) - agent.spawnedAt);
    }
    await agent.end('SIGKILL');
    const writes = await writesOfAdoption(node, pods, names);
    agent = startAgent(node.place);
    await adopted(agent, pods, names);
    await endPods(node, names, pods);
    return [
      {
        row: 'adoption',
        name: `restart over ${PODS} pods: all adopted`,
        value: median(times),
        unit: 'ms',
        goal: 1_000,
        detail: milliseconds(times),
      },
      {
        row: 'adoption',
        name: `restart over ${PODS} pods: CRI calls that write`,
        value: writes.length,
        unit: 'calls',
        goal: 0,
        detail: writes.length === 0 ? `within ${LOOK_ON_MS / 1_000} s of it` : [...new Set(writes)].join(', '),
      },
    ];
  } finally {
    await agent.end('SIGTERM');
  }
}

/** Returns the time at which the last pod was reported as running. Its container must be the same as before. */
async function adopted(
  { watcher }: AgentProcess,
  pods: readonly RunningPod[],
  names: readonly string[],
): Promise<number> {
  const now = await watcher.running(names.map(fullNameOf));
  for (const [index, { containerId }] of pods.entries()) {
    const name = names[index] ?? '';
    if (now.get(fullNameOf(name))?.containerId !== containerId) throw new Error(`${name} was not adopted`);
  }
  return Math.max(...[...now.values()].map(({ at }) => at));
}

/**
 * Returns the calls that change something while an agent adopts the pods. They pass through a proxy, so their duration
 * is not measured.
 */
async function writesOfAdoption(
  { place }: BenchNode,
  pods: readonly RunningPod[],
  names: readonly string[],
): Promise<readonly string[]> {
  const proxy = await countingProxy(place.endpoint);
  const agent = startAgent(place);
  try {
    await adopted(agent, pods, names);
    await pause(LOOK_ON_MS);
    return proxy.writes;
  } finally {
    await agent.end('SIGKILL');
    await proxy.close();
  }
}
