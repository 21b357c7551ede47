/**
 * Determines the order in which the containers of a pod start. Init containers and sidecars start sequentially,
 * followed by the regular containers (C3, C4).
 */

import { lookUp } from '../../../base/values/lookUp.ts';
import { containersOf, findContainerByName } from '../../../kubernetes/api/pods/containers.ts';
import type { ContainerRole } from '../../../kubernetes/status/view.ts';
import { type PodContext, runsOf } from '../context.ts';
import { censusOf, containerNames, initContainerNames, withLifecycles } from './census.ts';

export const initNames = ({ allocated }: PodContext): readonly string[] => initContainerNames(allocated.spec);
const regularNames = ({ allocated }: PodContext): readonly string[] => containerNames(allocated.spec, 'regular');
const ephemeralNames = ({ allocated }: PodContext): readonly string[] => containerNames(allocated.spec, 'ephemeral');
const roleOf = ({ allocated }: PodContext, name: string): ContainerRole | undefined =>
  findContainerByName(allocated.spec, name)?.role;

/** Returns the names of all containers except those with certain roles, in spec order. */
const namesExcept = ({ allocated }: PodContext, ...roles: readonly ContainerRole[]): string[] =>
  containersOf(allocated.spec).flatMap(({ container, role }) => (roles.includes(role) ? [] : [container.name]));

/**
 * Returns the containers that start first in a sandbox, i.e. the first init container or, if there are none, all
 * regular containers.
 */
export const firstContainers = (context: PodContext): readonly string[] => {
  const inits = initNames(context);
  return inits.length > 0 ? inits.slice(0, 1) : regularNames(context);
};

/** Returns the sidecars and regular containers that have an actor. */
export const containersAfterInits = (context: PodContext): string[] =>
  namesExcept(context, 'init', 'ephemeral').filter((name) => Object.hasOwn(context.containers, name));

/**
 * Returns the lifecycles of a pod's containers after some of them got their turn. The actors report their own progress
 * later.
 */
export function withStartingContainers(context: PodContext, names: readonly string[]): PodContext['containers'] {
  const pendingNames = names.filter((name) => lookUp(context.containers, name) === 'pending');
  return withLifecycles(context, new Map(pendingNames.map((name) => [name, 'coming' as const])));
}

/**
 * Whether the init container that had the latest turn is done. A sidecar is done once it is running, and any other init
 * container once it has succeeded (C3). Earlier init containers were done before it, so a sidecar that has started once
 * and is now in back-off blocks no container (C4).
 */
export function hasTurnPassed(context: PodContext): boolean {
  const lastInit = initNames(context).findLast((name) => context.turnsTaken.includes(name));
  if (lastInit === undefined) return true;
  const lifecycle = lookUp(context.containers, lastInit);
  return lifecycle === 'succeeded' || (lifecycle === 'running' && roleOf(context, lastInit) === 'sidecar');
}

/** Whether every init container has had its turn. */
export const haveAllInitsStarted = (context: PodContext): boolean =>
  initNames(context).every((name) => context.turnsTaken.includes(name));

/** Returns the containers' lifecycles in a new sandbox. Completed init containers have to run again (C3). */
export function resetInits(context: PodContext): PodContext['containers'] {
  const completedInits = initNames(context).filter((name) => lookUp(context.containers, name) === 'succeeded');
  return withLifecycles(context, new Map(completedInits.map((name) => [name, 'pending' as const])));
}

/** Whether an init container has failed permanently (C1). */
const hasInitFailed = (context: PodContext): boolean => censusOf(context).failedInitCount > 0;

/**
 * Whether a regular container was already created in this sandbox, which proves that the init containers had completed
 * (C3). A regular container that was created before an init container is ignored, because in that case the init
 * containers run again before it.
 */
export function wasInitialized(context: PodContext): boolean {
  const lastCreatedAt = (role: ContainerRole) =>
    containerNames(context.allocated.spec, role).reduce(
      (latest, name) => Math.max(latest, newestCreatedAt(context, name)),
      -1,
    );
  const lastRegularAt = lastCreatedAt('regular');
  return lastRegularAt >= 0 && lastRegularAt >= lastCreatedAt('init');
}

/**
 * Whether the runtime shows that any regular container was ever created, which proves that the init containers had
 * completed.
 */
export const hasRegularContainer = (context: PodContext): boolean =>
  regularNames(context).some((name) => runsOf(context.observed, name).length > 0);

/**
 * Returns the init containers that have had their turn in the current sandbox, derived from the containers that exist
 * there. These are all init containers up to the last one created, because each was done before the next one got its
 * turn (C4). An init container that was created before one that precedes it in the spec is ignored, because all init
 * containers then run again.
 */
export function earlierTurnNames(context: PodContext): string[] {
  const inits = initNames(context);
  const lastIndex = inits.findLastIndex((name, index) => {
    const precedingInits = inits.slice(0, index).filter((each) => roleOf(context, each) === 'init');
    const createdAt = newestCreatedAt(context, name);
    return createdAt >= 0 && precedingInits.every((each) => createdAt >= newestCreatedAt(context, each));
  });
  return inits.slice(0, lastIndex + 1);
}

/** Returns the creation time of the newest container with this name in the current sandbox, or -1 if there is none. */
const newestCreatedAt = ({ observed, sandbox }: PodContext, name: string): number =>
  Math.max(
    -1,
    ...runsOf(observed, name)
      .filter((shown) => shown.sandboxId === sandbox?.id)
      .map(({ createdAt }) => createdAt),
  );

/** Returns the init container whose turn is next, or undefined if there is none or if it has no actor yet. */
export function nextInitName(context: PodContext): string | undefined {
  const name = initNames(context).find((each) => !context.turnsTaken.includes(each));
  return name !== undefined && Object.hasOwn(context.containers, name) ? name : undefined;
}

/** Returns the ephemeral containers to start in the current sandbox. Includes only those that have an actor. */
export const newEphemeralContainers = (context: PodContext): string[] =>
  ephemeralNames(context).filter(
    (name) => Object.hasOwn(context.containers, name) && !context.turnsTaken.includes(name),
  );

/** Returns the ephemeral containers that had their turn. They are exempt from a restart of all containers. */
export const startedEphemeralContainers = (context: PodContext): string[] =>
  context.turnsTaken.filter((name) => roleOf(context, name) === 'ephemeral');

/** Returns the containers that restart with their pod, which are all but the ephemeral ones. */
export const restartableNames = (context: PodContext): string[] =>
  namesExcept(context, 'ephemeral').filter((name) => Object.hasOwn(context.containers, name));

/** Whether all containers that restart have stopped and wait for their turn again. */
export const areAllContainersReset = (context: PodContext): boolean =>
  restartableNames(context).every((name) =>
    ['pending', 'stopped', 'removed'].includes(lookUp(context.containers, name) ?? ''),
  );

/**
 * Whether all regular containers have completed and none will run again (C9). A container that an update has stopped is
 * not considered completed, because a later update may require it again.
 */
const haveRegularsFinished = (context: PodContext): boolean => censusOf(context).unfinishedRegularCount === 0;

/**
 * Whether the pod is complete, i.e. all regular containers have completed or an init container has failed permanently
 * (C9).
 */
export const isComplete = (context: PodContext): boolean => hasInitFailed(context) || haveRegularsFinished(context);
