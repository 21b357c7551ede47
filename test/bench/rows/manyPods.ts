import { setTimeout as pause } from 'node:timers/promises';
import type { AgentProcess } from '../agentProcess.ts';
import { type BenchNode, endPods, namesFor, runPods, withAgent } from '../node.ts';
import { cpuTime } from '../processFacts.ts';
import { inParallel, removeRawPod, startRawPod } from '../rawPods.ts';
import type { Figure } from '../report.ts';
import { median, milliseconds, preciseNow } from '../statistics.ts';

const PODS = 50;
const PARALLELISMS = [1, 2, 3, 4] as const;
const AGENT_AFTER = 2;
const SETTLE_MS = 1_000;

interface RawSample {
  readonly start: number;
  readonly removal: number;
}

interface AgentSample extends RawSample {
  /** When half of the pods ran. */
  readonly half: number;
  /** What the agent computed for all of it. */
  readonly cpu: number;
}

/** Fifty pods at once against a bare loop at whichever parallelism serves it best. */
export async function manyPods(node: BenchNode, repeats: number): Promise<Figure[]> {
  const raw = new Map<number, RawSample[]>(PARALLELISMS.map((parallel) => [parallel, []]));
  const agent: AgentSample[] = [];
  await withAgent(node.place, async (daemon) => {
    for (let index = 0; index < repeats; index += 1) {
      for (const [parallel, samples] of raw) {
        daemon.freeze();
        samples.push(await rawSample(node, `raw-many-${index}`, parallel));
        await daemon.thaw();
        // In the middle of what it is compared with: the machine may be slower at one time than at another.
        if (parallel === AGENT_AFTER) agent.push(await agentSample(node, daemon, `many-${index}`));
      }
    }
  });
  const starts = best(raw, ({ start }) => start);
  const removals = best(raw, ({ removal }) => removal);
  const all = agent.map(({ start }) => start);
  return [
    ratio(`${PODS} pods: all Running`, 1.15, all, starts),
    {
      row: 'many-pods',
      name: `${PODS} pods: half of them Running, of the wall`,
      value: median(agent.map(({ half, start }) => half / start)),
      unit: '×',
      goal: 0.6,
      detail: `${milliseconds(agent.map(({ half }) => half))} of ${milliseconds(all)}`,
    },
    ratio(
      `${PODS} pods: removed`,
      1.2,
      agent.map(({ removal }) => removal),
      removals,
    ),
    {
      row: 'many-pods',
      name: `${PODS} pods: the agent's CPU to start them`,
      value: median(agent.map(({ cpu }) => cpu)),
      unit: 'ms',
      detail: `${milliseconds(agent.map(({ cpu }) => cpu / PODS))} a pod`,
    },
  ];
}

interface Best {
  readonly parallel: number;
  readonly values: readonly number[];
  /** What the other parallelisms came to, for people. */
  readonly others: string;
}

/** The parallelism at which the bare loop was fastest, by the median of its repeats. */
function best(raw: ReadonlyMap<number, readonly RawSample[]>, of: (sample: RawSample) => number): Best {
  const all = [...raw].map(([parallel, samples]) => ({ parallel, values: samples.map(of) }));
  const [first = { parallel: 0, values: [] }, ...rest] = all.sort((a, b) => median(a.values) - median(b.values));
  const others = rest.map(({ parallel, values }) => `${parallel}: ${median(values).toFixed(0)}`).join(', ');
  return { ...first, others };
}

function ratio(name: string, goal: number, agent: readonly number[], raw: Best): Figure {
  const ratios = agent.map((ms, index) => ms / (raw.values[index] ?? Number.NaN));
  const detail = `${milliseconds(agent)}; raw calls, ${raw.parallel} at a time: ${milliseconds(raw.values)}; ${raw.others}`;
  return { row: 'many-pods', name, value: median(ratios), unit: '×', goal, detail };
}

async function rawSample({ cri, raw }: BenchNode, name: string, parallel: number): Promise<RawSample> {
  const pods = await raw.prepare(namesFor(`${name}-${parallel}`, PODS));
  const began = preciseNow();
  const running = await inParallel(pods, parallel, (pod) => startRawPod(cri, pod));
  const start = preciseNow() - began;
  await pause(SETTLE_MS);
  const ended = preciseNow();
  await inParallel(running, parallel, (pod) => removeRawPod(cri, pod));
  const removal = preciseNow() - ended;
  await raw.tidy();
  return { start, removal };
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
