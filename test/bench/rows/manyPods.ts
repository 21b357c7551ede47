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

/** What the bare loop took, on the whole, with so many calls at a time. */
interface Rank {
  readonly parallel: number;
  readonly ms: number;
}

const startOf = ({ start }: RawSample): number => start;
const removalOf = ({ removal }: RawSample): number => removal;

/** Fifty pods at once against a bare loop at whichever parallelism serves it best. */
export async function manyPods(node: BenchNode, repeats: number): Promise<Figure[]> {
  const raw: RawSample[] = [];
  const agent: AgentSample[] = [];
  const ranks = await withAgent(node.place, async (daemon) => {
    const sample = async (name: string, parallelism: Parallelism): Promise<RawSample> => {
      daemon.freeze();
      const taken = await rawSample(node, `raw-many-${name}`, parallelism);
      await daemon.thaw();
      return taken;
    };
    const tried = new Map<number, RawSample[]>(PARALLELISMS.map((parallel) => [parallel, []]));
    for (let index = 0; index < TRIES; index += 1) {
      for (const [parallel, samples] of tried) {
        samples.push(await sample(`try-${index}-${parallel}`, { starts: parallel, removals: parallel }));
      }
    }
    const [starts, removals] = [ranked(tried, startOf), ranked(tried, removalOf)];
    const best = { starts: starts[0]?.parallel ?? 1, removals: removals[0]?.parallel ?? 1 };
    // On both sides of each: the machine may be slower at one time than at another.
    raw.push(await sample('first', best));
    for (let index = 0; index < repeats; index += 1) {
      agent.push(await agentSample(node, daemon, `many-${index}`));
      raw.push(await sample(`${index}`, best));
    }
    return { starts, removals };
  });
  const against = (name: string, goal: number, of: (sample: RawSample) => number, ranking: readonly Rank[]) =>
    ratio(name, goal, { agent: agent.map(of), raw: raw.map(of) }, ranking);
  return [
    against(`${PODS} pods: all Running`, 1.15, startOf, ranks.starts),
    {
      row: 'many-pods',
      name: `${PODS} pods: half of them Running, of the wall`,
      value: median(agent.map(({ half, start }) => half / start)),
      unit: '×',
      goal: 0.6,
      detail: `${milliseconds(agent.map(({ half }) => half))} of ${milliseconds(agent.map(startOf))}`,
    },
    against(`${PODS} pods: removed`, 1.2, removalOf, ranks.removals),
    {
      row: 'many-pods',
      name: `${PODS} pods: the agent's CPU to start them`,
      value: median(agent.map(({ cpu }) => cpu)),
      unit: 'ms',
      detail: `${milliseconds(agent.map(({ cpu }) => cpu / PODS))} a pod`,
    },
  ];
}

/** What was tried, the fastest first. */
function ranked(tried: ReadonlyMap<number, readonly RawSample[]>, of: (sample: RawSample) => number): Rank[] {
  const ranks = [...tried].map(([parallel, samples]) => ({ parallel, ms: median(samples.map(of)) }));
  return ranks.sort((one, other) => one.ms - other.ms);
}

/** Each of the agent's against the bare ones before and after it. */
function ratio(
  name: string,
  goal: number,
  { agent, raw }: { agent: readonly number[]; raw: readonly number[] },
  [first, ...others]: readonly Rank[],
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
