/**
 * Compares the work of a node per fact between two sizes of the node. If the work per fact grows with the size, the
 * total work is superlinear, e.g. because each change of a container leads to a loop over all containers of its pod.
 */
import { type Crowd, idleNode, type Phase } from './crowds.ts';
import type { FunctionWork, Work, WorkCounter } from './workCounter.ts';

/** Ratio of the larger size to the smaller one. */
const SIZE_RATIO = 4;

interface Limits {
  /** Maximum ratio of the work per fact at the larger size to the work per fact at the smaller one. */
  readonly all: number;
  /**
   * Maximum of this ratio for a single function. A function that loops over all objects after each fact has a ratio of
   * `SIZE_RATIO`.
   */
  readonly function: number;
}

const LIMITS: Limits = { all: 1.25, function: 3 };
/** The limits of a phase whose work may grow because of the statuses of a large pod. */
const STATUS_LIMITS: Limits = { all: 1.75, function: 3.5 };
/** Share of the work below which the growth of a single function is ignored. */
const MIN_SHARE = 0.01;
/** Maximum number of functions that a message names. */
const NAMED_FUNCTIONS = 5;
/**
 * Functions that visit all pods of the node after any change. A checkpoint in the kubelet's format contains all pods
 * and a hash of its text, which cannot be computed from hashes of its parts. Changes during a write share the next one.
 * A relist reads all objects of the runtime, at most five times a second.
 */
const EXEMPT_FUNCTIONS: readonly RegExp[] = [
  /^kubernetes\/api\/pods\/containerHash\.ts:\d+ fnv1a$/,
  /^cri\/client\/observe\.ts:/,
];

/** The work per fact of one function at the two sizes. */
interface FunctionGrowth {
  readonly work: FunctionWork;
  readonly before: number;
  readonly after: number;
}

/** Runs the story of a crowd at both sizes. Returns a description of each phase whose work per fact grows too much. */
export async function excessiveGrowth(crowd: Crowd, counter: WorkCounter): Promise<string[]> {
  const small = await worksPerFact(crowd, crowd.size, counter);
  const large = await worksPerFact(crowd, SIZE_RATIO * crowd.size, counter);
  return crowd.phases.flatMap((phase, index) => {
    const excess = excessOf(phase, small[index] ?? new Map(), large[index] ?? new Map());
    return excess === undefined ? [] : [`${crowd.name}, ${phase.name}: ${excess}`];
  });
}

/** Returns the work per fact of each phase. */
async function worksPerFact(crowd: Crowd, size: number, counter: WorkCounter): Promise<Work[]> {
  const node = await idleNode();
  const works: Work[] = [];
  for (const { lastsMs, act, facts } of crowd.phases) {
    await counter.take();
    if (lastsMs !== undefined) await node.advance(lastsMs);
    const idleWork = await counter.take();
    await act(node, size);
    works.push(workPerFact(await counter.take(), lastsMs === undefined ? new Map() : idleWork, facts(size)));
  }
  node.kill();
  return works;
}

function workPerFact(work: Work, idleWork: Work, facts: number): Work {
  const entries = [...work].map(([id, each]) => {
    const count = Math.max(0, each.count - (idleWork.get(id)?.count ?? 0)) / facts;
    return [id, { ...each, count }] as const;
  });
  return new Map(entries);
}

/**
 * Describes the growth of the work per fact between two sizes, with the functions that have grown most. Returns
 * undefined if it is within the limits.
 */
export function excessOf(phase: Pick<Phase, 'mayGrowByStatuses'>, small: Work, large: Work): string | undefined {
  const [before, after] = [totalOf(small), totalOf(large)];
  const limits = phase.mayGrowByStatuses ? STATUS_LIMITS : LIMITS;
  const functions = functionGrowth(small, large);
  const loops = functions.filter(
    (each) =>
      each.before > 0 &&
      each.after >= MIN_SHARE * after &&
      each.after > limits.function * each.before &&
      !EXEMPT_FUNCTIONS.some((exempt) => exempt.test(each.work.location)),
  );
  const isWithinLimit = after <= limits.all * before;
  if (isWithinLimit && loops.length === 0) return undefined;
  const named = (isWithinLimit ? loops : functions).slice(0, NAMED_FUNCTIONS);
  return `work per fact grows from ${before.toFixed(0)} to ${after.toFixed(0)}, of which\n${named.map(describe).join('\n')}`;
}

/** Returns the growth of all functions, in descending order. */
const functionGrowth = (small: Work, large: Work): FunctionGrowth[] =>
  [...large.values()]
    .map((work) => ({ work, before: small.get(work.id)?.count ?? 0, after: work.count }))
    .toSorted((first, second) => second.after - second.before - (first.after - first.before));

const describe = ({ work, before, after }: FunctionGrowth): string =>
  `  ${work.location}: from ${before.toFixed(1)} to ${after.toFixed(1)}`;

const totalOf = (work: Work): number => [...work.values()].reduce((sum, { count }) => sum + count, 0);
