import { setTimeout as pause } from 'node:timers/promises';
import type { AgentProcess } from '../agentProcess.ts';
import { type BenchNode, endPods, namesFor, runPods, withAgent } from '../node.ts';
import { cpuTime } from '../processFacts.ts';
import { inParallel, removeRawPod, startRawPod } from '../rawPods.ts';
import type { Figure } from '../report.ts';
import { median, milliseconds, preciseNow } from '../statistics.ts';

const PODS = 50;
const PARALLELISMS = [1, 2, 3, 4] as const;
/** So often each parallelism is tried, to know which serves the bare loop best. */
const TRIES = 2;
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

/** How many calls at a time the bare loop makes. */
interface Parallelism {
  readonly starts: number;
  readonly removals: number;
}

type Tried = RawSample & Parallelism;

/** Fifty pods at once against a bare loop at whichever parallelism serves it best. */
export async function manyPods(node: BenchNode, repeats: number): Promise<Figure[]> {
  const tried: Tried[] = [];
  const raw: RawSample[] = [];
  const agent: AgentSample[] = [];
  await withAgent(node.place, async (daemon) => {
    const sample = async (name: string, parallelism: Parallelism): Promise<RawSample> => {
      daemon.freeze();
      const taken = await rawSample(node, `raw-many-${name}`, parallelism);
      await daemon.thaw();
      return taken;
    };
    for (let index = 0; index < TRIES; index += 1) {
      for (const each of PARALLELISMS) {
        const parallelism = { starts: each, removals: each };
        tried.push({ ...(await sample(`try-${index}-${each}`, parallelism)), ...parallelism });
      }
    }
    const parallelism = {
      starts: best(
        tried,
        ({ starts }) => starts,
        ({ start }) => start,
      ),
      removals: best(
        tried,
        ({ removals }) => removals,
        ({ removal }) => removal,
      ),
    };
    // On both sides of each: the machine may be slower at one time than at another.
    raw.push(await sample('first', parallelism));
    for (let index = 0; index < repeats; index += 1) {
      agent.push(await agentSample(node, daemon, `many-${index}`));
      raw.push(await sample(`${index}`, parallelism));
    }
  });
  return [
    ratio(
      `${PODS} pods: all Running`,
      1.15,
      { agent: agent.map(({ start }) => start), raw: raw.map(({ start }) => start) },
      byParallelism(
        tried,
        ({ starts }) => starts,
        ({ start }) => start,
      ),
    ),
    {
      row: 'many-pods',
      name: `${PODS} pods: half of them Running, of the wall`,
      value: median(agent.map(({ half, start }) => half / start)),
      unit: '×',
      goal: 0.6,
      detail: `${milliseconds(agent.map(({ half }) => half))} of ${milliseconds(agent.map(({ start }) => start))}`,
    },
    ratio(
      `${PODS} pods: removed`,
      1.2,
      { agent: agent.map(({ removal }) => removal), raw: raw.map(({ removal }) => removal) },
      byParallelism(
        tried,
        ({ removals }) => removals,
        ({ removal }) => removal,
      ),
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

/** What was tried, by how many calls were made at a time: the fastest first. */
function byParallelism(tried: readonly Tried[], parallel: (of: Tried) => number, ms: (of: Tried) => number) {
  const groups = [...Map.groupBy(tried, parallel)].map(([key, own]) => ({ parallel: key, ms: median(own.map(ms)) }));
  return groups.sort((one, other) => one.ms - other.ms);
}

function best(...tried: Parameters<typeof byParallelism>): number {
  return byParallelism(...tried)[0]?.parallel ?? 1;
}

/** Each of the agent's against the bare ones before and after it. */
function ratio(
  name: string,
  goal: number,
  { agent, raw }: { agent: readonly number[]; raw: readonly number[] },
  [first, ...others]: ReturnType<typeof byParallelism>,
): Figure {
  const ratios = agent.map((ms, index) => ms / median(raw.slice(index, index + 2)));
  const rest = others.map(({ parallel, ms }) => `${parallel}: ${ms.toFixed(0)}`).join(', ');
  const detail = `${milliseconds(agent)}; raw calls, ${first?.parallel} at a time: ${milliseconds(raw)}; ${rest}`;
  return { row: 'many-pods', name, value: median(ratios), unit: '×', goal, detail };
}

async function rawSample({ cri, raw }: BenchNode, name: string, parallelism: Parallelism): Promise<RawSample> {
  const pods = await raw.prepare(namesFor(name, PODS));
  const began = preciseNow();
  const running = await inParallel(pods, parallelism.starts, (pod) => startRawPod(cri, pod));
  const start = preciseNow() - began;
  await pause(SETTLE_MS);
  const ended = preciseNow();
  await inParallel(running, parallelism.removals, (pod) => removeRawPod(cri, pod));
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
