/**
 * Launches the containers of a pod one at a time, including postStart hooks (C9), in rounds that correspond to the
 * syncs of the kubelet. A round contains the containers that are starting when the round begins. Containers that start
 * later, e.g. after a restart, belong to the next round.
 */
import { lookUp } from '../../../base/values/lookUp.ts';
import { findContainerByName } from '../../../kubernetes/api/pods/containers.ts';
import type { PodContext } from '../context.ts';
import { censusOf, containerNames, isStarting, STARTING_LIFECYCLES, sortInSpecOrder } from './census.ts';

/**
 * Whether a container's turn to start has come. The turn of all regular containers comes when the pod is initialized.
 */
const hasTurn = ({ isInitialized, turnsTaken }: PodContext, name: string): boolean =>
  isInitialized || turnsTaken.includes(name);

const isEphemeral = ({ allocated }: PodContext, name: string): boolean =>
  containerNames(allocated.spec, 'ephemeral').includes(name);

const launchingContainer = (context: PodContext): string | undefined =>
  sortInSpecOrder(context.allocated.spec, censusOf(context).namesIn('launching')).find(
    (name) => !isEphemeral(context, name),
  );

/**
 * Returns the first container that has yet to be launched in the current round. A container that fails is deferred to a
 * later round.
 */
function nextContainerInRound(context: PodContext): string | undefined {
  for (const name of censusOf(context).fromFirstStarting(context.launchRound)) {
    if (isStarting(lookUp(context.containers, name)) && hasTurn(context, name)) return name;
  }
  return undefined;
}

/** Whether a round that starts now would launch any container. */
function hasNewRound(context: PodContext): boolean {
  const census = censusOf(context);
  for (const lifecycle of STARTING_LIFECYCLES) {
    for (const name of census.namesIn(lifecycle))
      if (hasTurn(context, name) && isLaunchedInOrder(context, name)) return true;
  }
  return false;
}

/** Whether a container is in the spec and is launched in spec order. This excludes ephemeral containers. */
const isLaunchedInOrder = (context: PodContext, name: string): boolean =>
  findContainerByName(context.allocated.spec, name) !== undefined && !isEphemeral(context, name);

/** Returns the containers that a round starting now would launch, in spec order. */
export function newRound(context: PodContext): string[] {
  const census = censusOf(context);
  const names = STARTING_LIFECYCLES.flatMap((lifecycle) => [...census.namesIn(lifecycle)]);
  const launchableNames = names.filter((name) => hasTurn(context, name) && !isEphemeral(context, name));
  return sortInSpecOrder(context.allocated.spec, launchableNames);
}

/**
 * Whether every container of the current round has been launched or has failed, and some containers are left for the
 * next round.
 */
export const isRoundOver = (context: PodContext): boolean =>
  nextContainerInRound(context) === undefined && launchingContainer(context) === undefined && hasNewRound(context);

/**
 * Returns the container to launch now. Ephemeral containers come first, because they do not wait for other containers.
 * The next container of the round follows once its image is present.
 */
export function nextContainerToLaunch(context: PodContext): string | undefined {
  const isReady = (name: string) => lookUp(context.containers, name) === 'readyToCreate';
  const readyEphemeralContainer = containerNames(context.allocated.spec, 'ephemeral').find(isReady);
  if (readyEphemeralContainer !== undefined) return readyEphemeralContainer;
  const nextName = nextContainerInRound(context);
  return nextName !== undefined && isReady(nextName) && launchingContainer(context) === undefined
    ? nextName
    : undefined;
}

/** Returns the container that the launchable containers wait for, if any. */
export const blockingContainer = (context: PodContext): string | undefined =>
  launchingContainer(context) ?? nextContainerInRound(context);
