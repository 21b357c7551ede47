/**
 * Counts a pod's containers by lifecycle, because the guards of the pod's chart need these numbers after every event. A
 * pod may have a thousand containers, so no guard may iterate over them.
 */

import { lookUp } from '../../../base/values/lookUp.ts';
import { memoize } from '../../../base/values/memoize.ts';
import { VersionedIndex } from '../../../base/values/versionedIndex.ts';
import { containersOf, findContainerByName } from '../../../kubernetes/api/pods/containers.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import type { ContainerRole } from '../../../kubernetes/status/view.ts';
import type { ContainerLifecycle } from '../../shared/events/events.ts';
import type { PodContext } from '../context.ts';

type Lifecycles = PodContext['containers'];

export interface Census {
  /** Number of containers in the spec that have no actor. */
  readonly missingActorCount: number;
  /** Number of init containers that have failed permanently. */
  readonly failedInitCount: number;
  /** Number of regular containers in the spec that are neither `succeeded` nor `failed`. */
  readonly unfinishedRegularCount: number;
  /** Number of regular containers that have, or may get, a process. */
  readonly activeRegularCount: number;
  /** Number of containers that have, or may get, a process. */
  readonly activeCount: number;
  /** Returns the names of the containers in a lifecycle, in no particular order. */
  namesIn(lifecycle: ContainerLifecycle): ReadonlySet<string>;
  /**
   * Yields the names in `names`, which are in spec order, from the first container in one of the `STARTING_LIFECYCLES`
   * onward. Repeated calls with the same list skip the names before that container without checking them again.
   */
  fromFirstStarting(names: readonly string[]): IterableIterator<string>;
}

/** The lifecycles of a container that waits for its image or can be launched. */
export const STARTING_LIFECYCLES = ['coming', 'readyToCreate'] as const;

export const isStarting = (lifecycle: ContainerLifecycle | undefined): boolean =>
  STARTING_LIFECYCLES.some((each) => each === lifecycle);

/** The lifecycles in which a container has no process and does not get one on its own. */
const LIFECYCLES_WITHOUT_PROCESS: readonly ContainerLifecycle[] = ['succeeded', 'failed', 'stopped', 'removed'];

/**
 * Whether a container has no process and does not get one on its own. The lifecycle of a container without an actor is
 * undefined.
 */
export const isWithoutProcess = (lifecycle: ContainerLifecycle | undefined): boolean =>
  lifecycle === undefined || LIFECYCLES_WITHOUT_PROCESS.includes(lifecycle);

const NO_NAMES: ReadonlySet<string> = new Set();

class ContainerCensus implements Census {
  readonly spec: PodSpec;
  missingActorCount: number;
  failedInitCount = 0;
  unfinishedRegularCount: number;
  activeRegularCount = 0;
  activeCount = 0;
  readonly #names = new Map<ContainerLifecycle, Set<string>>();
  /**
   * The list iterated last, and the count of its leading names that can be skipped because none of them is starting.
   */
  #skipped: { readonly names: readonly string[]; count: number } = { names: [], count: 0 };

  constructor(spec: PodSpec, lifecycles: Lifecycles) {
    this.spec = spec;
    this.missingActorCount = containersOf(spec).length;
    this.unfinishedRegularCount = containerNames(spec, 'regular').length;
    for (const [name, lifecycle] of Object.entries(lifecycles)) this.move(name, undefined, lifecycle);
  }

  namesIn(lifecycle: ContainerLifecycle): ReadonlySet<string> {
    return this.#names.get(lifecycle) ?? NO_NAMES;
  }

  *fromFirstStarting(names: readonly string[]): IterableIterator<string> {
    if (this.#skipped.names !== names) this.#skipped = { names, count: 0 };
    const skipped = this.#skipped;
    for (let name = names[skipped.count]; name !== undefined && !this.#isStarting(name); name = names[skipped.count])
      skipped.count += 1;
    for (let index = skipped.count; index < names.length; index += 1) yield names[index] ?? '';
  }

  #isStarting(name: string): boolean {
    return STARTING_LIFECYCLES.some((lifecycle) => this.namesIn(lifecycle).has(name));
  }

  /**
   * Resets the iteration if the named container, which is starting, precedes the first starting container that the
   * iteration has found.
   */
  #resetIteration(name: string): void {
    const { names, count } = this.#skipped;
    const nextName = names[count];
    const positionByName = specPositions(this.spec);
    if (nextName === undefined || (positionByName.get(name) ?? 0) < (positionByName.get(nextName) ?? 0))
      this.#skipped = { names, count: 0 };
  }

  move(
    name: string,
    previousLifecycle: ContainerLifecycle | undefined,
    nextLifecycle: ContainerLifecycle | undefined,
  ): void {
    if (previousLifecycle !== undefined) this.#names.get(previousLifecycle)?.delete(name);
    if (nextLifecycle !== undefined) {
      const names = this.#names.get(nextLifecycle) ?? new Set();
      this.#names.set(nextLifecycle, names.add(name));
      if (isStarting(nextLifecycle)) this.#resetIteration(name);
    }
    const activeDelta = Number(!isWithoutProcess(nextLifecycle)) - Number(!isWithoutProcess(previousLifecycle));
    this.activeCount += activeDelta;
    const role = findContainerByName(this.spec, name)?.role;
    if (role === undefined) return;
    this.missingActorCount += Number(previousLifecycle !== undefined) - Number(nextLifecycle !== undefined);
    if (role === 'regular') {
      this.activeRegularCount += activeDelta;
      this.unfinishedRegularCount += Number(isFinished(previousLifecycle)) - Number(isFinished(nextLifecycle));
    }
    if (isInit(role))
      this.failedInitCount += Number(nextLifecycle === 'failed') - Number(previousLifecycle === 'failed');
  }
}

const isFinished = (lifecycle: ContainerLifecycle | undefined): boolean =>
  lifecycle === 'succeeded' || lifecycle === 'failed';

const isInit = (role: ContainerRole): boolean => role === 'init' || role === 'sidecar';

const censuses = new VersionedIndex((lifecycles: Lifecycles, spec: PodSpec) => new ContainerCensus(spec, lifecycles));

export const censusOf = ({ containers, allocated }: Pick<PodContext, 'containers' | 'allocated'>): Census =>
  censuses.of(containers, allocated.spec);

/** Replaces the lifecycles of some containers, all of which have an actor. */
export function withLifecycles(
  { containers, allocated }: Pick<PodContext, 'containers' | 'allocated'>,
  changes: ReadonlyMap<string, ContainerLifecycle>,
): Lifecycles {
  const changedEntries = [...changes].filter(([name, lifecycle]) => lookUp(containers, name) !== lifecycle);
  if (changedEntries.length === 0) return containers;
  const nextLifecycles = { ...containers, ...Object.fromEntries(changedEntries) };
  const recount = (census: ContainerCensus) => {
    for (const [name, lifecycle] of changedEntries) census.move(name, lookUp(containers, name), lifecycle);
  };
  return censuses.advance(containers, nextLifecycles, recount, allocated.spec);
}

const namesByRole = memoize((spec: PodSpec) => {
  const names: Record<ContainerRole, string[]> = { init: [], sidecar: [], regular: [], ephemeral: [] };
  for (const { container, role } of containersOf(spec)) names[role].push(container.name);
  return names;
});

/** Returns the names of the containers with a role, in spec order. */
export const containerNames = (spec: PodSpec, role: ContainerRole): readonly string[] => namesByRole(spec)[role];

/** Returns the names of the init containers and sidecars, in spec order. */
export const initContainerNames = memoize((spec: PodSpec): readonly string[] =>
  containersOf(spec).flatMap(({ container, role }) => (isInit(role) ? [container.name] : [])),
);

const specPositions = memoize(
  (spec: PodSpec): ReadonlyMap<string, number> =>
    new Map(containersOf(spec).map(({ container }, index) => [container.name, index])),
);

/** Sorts names in spec order and drops those that the spec does not contain. */
export function sortInSpecOrder(spec: PodSpec, names: Iterable<string>): string[] {
  const positionByName = specPositions(spec);
  return [...names]
    .filter((name) => positionByName.has(name))
    .sort((a, b) => (positionByName.get(a) ?? 0) - (positionByName.get(b) ?? 0));
}
