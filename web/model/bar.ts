/** The node at a glance: what the bar counts, and the filter that shows what was counted. */
import { type CATEGORIES, type Category, categoryOf } from '../../show/category.ts';
import type { World } from './world.ts';

/** A number of the bar. */
interface Counted<T> {
  readonly of: T;
  readonly count: number;
}

/** The phases in the order of the bar. */
const PHASES = ['Running', 'Pending', 'Succeeded', 'Failed', 'Unknown'];

/** The pods in each phase that there are any in. */
export function podsByPhase({ pods }: World): readonly Counted<string>[] {
  const counts = new Map(PHASES.map((phase) => [phase, 0]));
  for (const { phase } of pods.values()) counts.set(phase, (counts.get(phase) ?? 0) + 1);
  return counted(counts);
}

/** What steady state is shown first, then the rest, the worst last but what has ended. */
const IN_BAR: readonly Category[] = ['steady', 'working', 'waiting', 'retrying', 'failed', 'broken', 'done'];

/** The containers in each category that there are any in; one that waits for its image is what its image is. */
export function containersByCategory({ actors }: World): readonly Counted<Category>[] {
  const counts = new Map(IN_BAR.map((category) => [category, 0]));
  for (const actor of actors.values()) {
    if (actor.machine === 'container') counts.set(categoryOf(actor), (counts.get(categoryOf(actor)) ?? 0) + 1);
  }
  return counted(counts);
}

const counted = <T>(counts: ReadonlyMap<T, number>): Counted<T>[] =>
  [...counts].flatMap(([of, count]) => (count > 0 ? [{ of, count }] : []));

/** The filters that the cells set. */
export const CELL_FILTERS = {
  pods: 'kind:pod',
  failedPods: 'kind:pod is:failed',
  containers: 'kind:container',
  start: 'start slot',
  pull: 'pull slot',
  loop: 'changed<1m',
} as const;

/** The filter for the containers of a category. */
export const containersThat = (category: (typeof CATEGORIES)[number]): string =>
  `${CELL_FILTERS.containers} is:${category}`;
