/** The lower bound for starting many pods at once: a loop of bare CRI calls with the best degree of parallelism. */
import { setTimeout as pause } from 'node:timers/promises';
import type { AgentProcess } from './agentProcess.ts';
import { type BenchNode, namesFor } from './node.ts';
import { inParallel, removeRawPod, startRawPod } from './rawPods.ts';
import { median, milliseconds, preciseNow } from './statistics.ts';

const PARALLELISMS = [1, 2, 3, 4] as const;
/** Maximum number of attempts with each degree of parallelism, in order to find the best one. */
const MOST_TRIES = 2;
export const SETTLE_MS = 1_000;

export interface RawSample {
  readonly start: number;
  readonly removal: number;
}

/** Total time of the bare loop with a number of concurrent calls. */
export interface Rank {
  readonly parallel: number;
  readonly ms: number;
}

export interface RawLoop {
  /** The results of the attempts, fastest first. */
  readonly starts: readonly Rank[];
  readonly removals: readonly Rank[];
  /** Runs the pods once more with the best degree of parallelism, while the agent is suspended. */
  sample(name: string): Promise<RawSample>;
}

/**
 * Finds the degree of parallelism with which the bare loop is fastest for this number of pods. Tries each degree at
 * most as often as the loop is measured afterwards.
 */
export async function rawLoop(
  node: BenchNode,
  daemon: AgentProcess,
  { pods, repeats }: { readonly pods: number; readonly repeats: number },
): Promise<RawLoop> {
  const measure = async (name: string, starts: number, removals: number): Promise<RawSample> => {
    daemon.freeze();
    const taken = await rawSample(node, namesFor(`raw-many-${name}`, pods), { starts, removals });
    await daemon.thaw();
    return taken;
  };
  const tried = new Map<number, RawSample[]>(PARALLELISMS.map((parallel) => [parallel, []]));
  for (let index = 0; index < Math.min(MOST_TRIES, repeats); index += 1) {
    for (const [parallel, samples] of tried)
      samples.push(await measure(`try-${index}-${parallel}`, parallel, parallel));
  }
  const starts = ranked(tried, ({ start }) => start);
  const removals = ranked(tried, ({ removal }) => removal);
  const sample = (name: string) => measure(name, starts[0]?.parallel ?? 1, removals[0]?.parallel ?? 1);
  return { starts, removals, sample };
}

/**
 * Compares each of the agent's times with those of the bare loop before and after it, and returns the ratio with its
 * details.
 */
export function againstLoop(
  agent: readonly number[],
  raw: readonly number[],
  [first, ...others]: readonly Rank[],
): { readonly value: number; readonly detail: string } {
  const ratios = agent.map((ms, index) => ms / median(raw.slice(index, index + 2)));
  const rest = others.map(({ parallel, ms }) => `${parallel}: ${ms.toFixed(0)}`).join(', ');
  const detail = `${milliseconds(agent)}; raw calls, ${first?.parallel} at a time: ${milliseconds(raw)}; ${rest}`;
  return { value: median(ratios), detail };
}

function ranked(tried: ReadonlyMap<number, readonly RawSample[]>, of: (sample: RawSample) => number): Rank[] {
  const ranks = [...tried].map(([parallel, samples]) => ({ parallel, ms: median(samples.map(of)) }));
  return ranks.sort((one, other) => one.ms - other.ms);
}

async function rawSample(
  { cri, raw }: BenchNode,
  names: readonly string[],
  parallelism: { readonly starts: number; readonly removals: number },
): Promise<RawSample> {
  const pods = await raw.prepare(names);
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
