/**
 * Counts a pod's containers by lifecycle, because the guards of its chart need these numbers after every event. A pod
 * may have a thousand containers, so no guard may iterate over them. Each census is derived from the previous one.
 */

import { lookUp } from '../../base/lookUp.ts';
import { memoize } from '../../base/memoize.ts';
import { containerNamed, containersOf } from '../../kubernetes/api/containers.ts';
import type { PodSpec } from '../../kubernetes/api/schema/pod.ts';
import type { ContainerRole } from '../../kubernetes/status/view.ts';
import type { ContainerLifecycle } from '../shared/events.ts';
import type { PodContext } from './context.ts';

type Lifecycles = PodContext['containers'];

export interface Census {
  /** Number of containers in the spec that have no actor. */
  readonly withoutActor: number;
  /** Number of init containers that have failed permanently. */
  readonly failedInits: number;
  /** Number of regular containers in the spec that are neither `succeeded` nor `failed`. */
  readonly unfinishedRegulars: number;
  /** Number of regular containers that have, or may get, a process. */
  readonly activeRegulars: number;
  /** Number of containers that have, or may get, a process. */
  readonly active: number;
  /** Returns the names of the containers in a lifecycle, in no particular order. */
  of(lifecycle: ContainerLifecycle): ReadonlySet<string>;
  /**
   * Iterates over the names of a list, in the order of the spec, from the first container on its way. Consecutive calls
   * with the same list visit each name about once in total.
   */
  fromFirstOnItsWay(names: readonly string[]): IterableIterator<string>;
}

/** The lifecycles of a container that waits for its image or can be launched. */
export const ON_ITS_WAY = ['coming', 'readyToCreate'] as const;

export const isOnItsWay = (lifecycle: ContainerLifecycle | undefined): boolean =>
  ON_ITS_WAY.some((each) => each === lifecycle);

/** The lifecycles in which a container has no process and gets none on its own. */
const WITHOUT_PROCESS: readonly ContainerLifecycle[] = ['succeeded', 'failed', 'stopped', 'removed'];

/**
 * Whether a container in this lifecycle has no process and gets none on its own. Undefined if the container has no
 * actor.
 */
export const isWithoutProcess = (lifecycle: ContainerLifecycle | undefined): boolean =>
  lifecycle === undefined || WITHOUT_PROCESS.includes(lifecycle);

const NONE: ReadonlySet<string> = new Set();

class Count implements Census {
  readonly spec: PodSpec;
  withoutActor: number;
  failedInits = 0;
  unfinishedRegulars: number;
  activeRegulars = 0;
  active = 0;
  readonly #names = new Map<ContainerLifecycle, Set<string>>();
  /** A list of names, and the number of names at its start that are not on their way. */
  #passed: { readonly names: readonly string[]; count: number } = { names: [], count: 0 };

  constructor(spec: PodSpec, lifecycles: Lifecycles) {
    this.spec = spec;
    this.withoutActor = containersOf(spec).length;
    this.unfinishedRegulars = namesOf(spec, 'regular').length;
    for (const [name, lifecycle] of Object.entries(lifecycles)) this.move(name, undefined, lifecycle);
  }

  of(lifecycle: ContainerLifecycle): ReadonlySet<string> {
    return this.#names.get(lifecycle) ?? NONE;
  }

  *fromFirstOnItsWay(names: readonly string[]): IterableIterator<string> {
    if (this.#passed.names !== names) this.#passed = { names, count: 0 };
    const passed = this.#passed;
    for (let name = names[passed.count]; name !== undefined && !this.#isOnItsWay(name); name = names[passed.count])
      passed.count += 1;
    for (let index = passed.count; index < names.length; index += 1) yield names[index] ?? '';
  }

  #isOnItsWay(name: string): boolean {
    return ON_ITS_WAY.some((lifecycle) => this.of(lifecycle).has(name));
  }

  /** Restarts the iteration if a container before the first one on its way is now on its way. */
  #comeOnItsWay(name: string): void {
    const { names, count } = this.#passed;
    const next = names[count];
    const position = positions(this.spec);
    if (next === undefined || (position.get(name) ?? 0) < (position.get(next) ?? 0)) this.#passed = { names, count: 0 };
  }

  move(name: string, before: ContainerLifecycle | undefined, after: ContainerLifecycle | undefined): void {
    if (before !== undefined) this.#names.get(before)?.delete(name);
    if (after !== undefined) {
      const names = this.#names.get(after) ?? new Set();
      this.#names.set(after, names.add(name));
      if (isOnItsWay(after)) this.#comeOnItsWay(name);
    }
    const activity = Number(!isWithoutProcess(after)) - Number(!isWithoutProcess(before));
    this.active += activity;
    const role = containerNamed(this.spec, name)?.role;
    if (role === undefined) return;
    this.withoutActor += Number(before !== undefined) - Number(after !== undefined);
    if (role === 'regular') {
      this.activeRegulars += activity;
      this.unfinishedRegulars += Number(isFinished(before)) - Number(isFinished(after));
    }
    if (isInit(role)) this.failedInits += Number(after === 'failed') - Number(before === 'failed');
  }
}

const isFinished = (lifecycle: ContainerLifecycle | undefined): boolean =>
  lifecycle === 'succeeded' || lifecycle === 'failed';

const isInit = (role: ContainerRole): boolean => role === 'init' || role === 'sidecar';

/**
 * Censuses by the latest lifecycles of each pod. A census is updated in place when the lifecycles change. Earlier
 * lifecycles, which only tests inspect, are counted on request.
 */
const counts = new WeakMap<Lifecycles, Count>();

function countOf({ containers, allocated: { spec } }: Pick<PodContext, 'containers' | 'allocated'>): Count {
  const known = counts.get(containers);
  if (known?.spec === spec) return known;
  const count = new Count(spec, containers);
  counts.set(containers, count);
  return count;
}

export const censusOf = (context: Pick<PodContext, 'containers' | 'allocated'>): Census => countOf(context);

/** Replaces the lifecycles of some containers, all of which have an actor. */
export function withLifecycles(
  context: Pick<PodContext, 'containers' | 'allocated'>,
  changes: ReadonlyMap<string, ContainerLifecycle>,
): Lifecycles {
  const { containers } = context;
  const changed = [...changes].filter(([name, lifecycle]) => lookUp(containers, name) !== lifecycle);
  if (changed.length === 0) return containers;
  const count = countOf(context);
  counts.delete(containers);
  const next = { ...containers, ...Object.fromEntries(changed) };
  for (const [name, lifecycle] of changed) count.move(name, lookUp(containers, name), lifecycle);
  counts.set(next, count);
  return next;
}

const namesByRole = memoize((spec: PodSpec) => {
  const names: Record<ContainerRole, string[]> = { init: [], sidecar: [], regular: [], ephemeral: [] };
  for (const { container, role } of containersOf(spec)) names[role].push(container.name);
  return names;
});

/** Returns the names of the containers with a role, in spec order. */
export const namesOf = (spec: PodSpec, role: ContainerRole): readonly string[] => namesByRole(spec)[role];

/** Returns the names of the init containers and sidecars, in spec order. */
export const initNamesOf = memoize((spec: PodSpec): readonly string[] =>
  containersOf(spec).flatMap(({ container, role }) => (isInit(role) ? [container.name] : [])),
);

const positions = memoize(
  (spec: PodSpec): ReadonlyMap<string, number> =>
    new Map(containersOf(spec).map(({ container }, index) => [container.name, index])),
);

/** Sorts names in spec order and drops those that the spec does not contain. */
export function inOrderOf(spec: PodSpec, names: Iterable<string>): string[] {
  const position = positions(spec);
  return [...names]
    .filter((name) => position.has(name))
    .sort((a, b) => (position.get(a) ?? 0) - (position.get(b) ?? 0));
}
