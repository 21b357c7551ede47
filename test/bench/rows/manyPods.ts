import { setTimeout as pause } from 'node:timers/promises';
import type { AgentProcess } from '../agentProcess.ts';
import { type BenchNode, endPods, namesFor, runPods, withAgent } from '../node.ts';
import { cpuTime } from '../processFacts.ts';
import { againstLoop, type RawSample, rawLoop, SETTLE_MS } from '../rawLoop.ts';
import type { Figure } from '../report.ts';
import { median, milliseconds } from '../statistics.ts';

const PODS = 50;
const row = 'many-pods';

interface AgentSample extends RawSample {
  /** Time until half of the pods were running. */
  readonly half: number;
  /** CPU time of the agent for all pods. */
  readonly cpu: number;
}

const startOf = ({ start }: RawSample): number => start;
const removalOf = ({ removal }: RawSample): number => removal;

/** Compares the start of fifty pods at once with a bare loop that has the best degree of parallelism. */
export async function manyPods(node: BenchNode, repeats: number): Promise<Figure[]> {
  const raw: RawSample[] = [];
  const agent: AgentSample[] = [];
  const loop = await withAgent(node.place, async (daemon) => {
    const floor = await rawLoop(node, daemon, { pods: PODS, repeats });
    // Measure the bare loop before and after each sample, because the speed of the machine may change.
    raw.push(await floor.sample('first'));
    for (let index = 0; index < repeats; index += 1) {
      agent.push(await agentSample(node, daemon, `many-${index}`));
      raw.push(await floor.sample(`${index}`));
    }
    return floor;
  });
  const starts = againstLoop(agent.map(startOf), raw.map(startOf), loop.starts);
  const removals = againstLoop(agent.map(removalOf), raw.map(removalOf), loop.removals);
  return [
    { row, name: `${PODS} pods: all Running`, unit: '×', goal: 1.15, ...starts },
    {
      row,
      name: `${PODS} pods: half of them Running, of the wall`,
      unit: '×',
      goal: 0.6,
      value: median(agent.map(({ half, start }) => half / start)),
      detail: `${milliseconds(agent.map(({ half }) => half))} of ${milliseconds(agent.map(startOf))}`,
    },
    { row, name: `${PODS} pods: removed`, unit: '×', goal: 1.2, ...removals },
    {
      row,
      name: `${PODS} pods: the agent's CPU to start them`,
      unit: 'ms',
      value: median(agent.map(({ cpu }) => cpu)),
      detail: `${milliseconds(agent.map(({ cpu }) => cpu / PODS))} a pod`,
    },
  ];
}

async function agentSample(node: BenchNode, daemon: AgentProcess, name: string): Promise<AgentSample> {
  const names = namesFor(name, PODS);
  const before = await cpuTime(daemon.pid);
  const { addedAt, pods } = await runPods(node.place, daemon, names);
  const cpu = (await cpuTime(daemon.pid)) - before;
  const times = pods.map(({ at }) => at - addedAt).sort((a, b) => a - b);
  await pause(SETTLE_MS);
  const removal = await endPods(node, names, pods);
  return { start: times[PODS - 1] ?? Number.NaN, half: times[PODS / 2 - 1] ?? Number.NaN, cpu, removal };
}
