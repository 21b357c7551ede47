/** Counts the pods and containers for the bar at the top of the page, and creates the filters that list them. */
import { type CATEGORIES, type Category, categoryOf } from '../../../show/category.ts';
import type { World } from '../server/world.ts';

interface ValueCount<T> {
  readonly value: T;
  readonly count: number;
}

/** The pod phases in display order. */
const PHASES = ['Running', 'Pending', 'Succeeded', 'Failed', 'Unknown'];

/** Counts the pods in each phase. Phases without pods are omitted. */
export function countPodsByPhase({ pods }: World): readonly ValueCount<string>[] {
  const counts = new Map(PHASES.map((phase) => [phase, 0]));
  for (const { phase } of pods.values()) counts.set(phase, (counts.get(phase) ?? 0) + 1);
  return nonZeroCounts(counts);
}

/**
 * The categories in display order. Steady comes first, done comes last, and the categories in between are sorted by
 * increasing severity.
 */
const CATEGORY_ORDER: readonly Category[] = ['steady', 'working', 'waiting', 'retrying', 'failed', 'broken', 'done'];

/**
 * Counts the containers in each category. Categories without containers are omitted. A container that waits for its
 * image has the category of the image.
 */
export function countContainersByCategory({ actors }: World): readonly ValueCount<Category>[] {
  const counts = new Map(CATEGORY_ORDER.map((category) => [category, 0]));
  for (const actor of actors.values()) {
    if (actor.machine === 'container') counts.set(categoryOf(actor), (counts.get(categoryOf(actor)) ?? 0) + 1);
  }
  return nonZeroCounts(counts);
}

const nonZeroCounts = <T>(counts: ReadonlyMap<T, number>): ValueCount<T>[] =>
  [...counts].flatMap(([value, count]) => (count > 0 ? [{ value, count }] : []));

/** Filters that are applied by clicking a cell of the bar. */
export const CELL_FILTERS = {
  pods: 'kind:pod',
  failedPods: 'kind:pod is:failed',
  containers: 'kind:container',
  start: 'start slot',
  pull: 'pull slot',
  loop: 'changed<1m',
} as const;

export const containerFilter = (category: (typeof CATEGORIES)[number]): string =>
  `${CELL_FILTERS.containers} is:${category}`;
