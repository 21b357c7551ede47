/**
 * Launches the containers of a pod one at a time, including postStart hooks (C9), in rounds that correspond to the
 * syncs of a kubelet. A round contains the containers that are on their way when the round starts. Containers that are
 * on their way later, e.g. after a restart, belong to the next round.
 */
import { lookUp } from '../../base/lookUp.ts';
import { containerNamed } from '../../kubernetes/api/containers.ts';
import { censusOf, inOrderOf, isOnItsWay, namesOf, ON_ITS_WAY } from './census.ts';
import type { PodContext } from './context.ts';

/**
 * Whether a pod gives a container a turn in its rounds. Ephemeral containers do not wait for the hooks of other
 * containers.
 */
const hasTurn = ({ initialized, turnsTaken }: PodContext, name: string): boolean =>
  initialized || turnsTaken.includes(name);

const isEphemeral = ({ allocated }: PodContext, name: string): boolean =>
  namesOf(allocated.spec, 'ephemeral').includes(name);

const launching = (context: PodContext): string | undefined =>
  inOrderOf(context.allocated.spec, censusOf(context).of('launching')).find((name) => !isEphemeral(context, name));

/**
 * Returns the first container that has yet to be launched in the current round. A failure defers its container to a
 * later round.
 */
function nextOfRound(context: PodContext): string | undefined {
  for (const name of censusOf(context).fromFirstOnItsWay(context.round)) {
    if (isOnItsWay(lookUp(context.containers, name)) && hasTurn(context, name)) return name;
  }
  return undefined;
}

/** Whether a round that starts now would launch any container. */
function hasNewRound(context: PodContext): boolean {
  const census = censusOf(context);
  for (const lifecycle of ON_ITS_WAY) {
    for (const name of census.of(lifecycle))
      if (hasTurn(context, name) && isLaunchedInOrder(context, name)) return true;
  }
  return false;
}

/** Whether a container in the spec is launched in spec order. */
const isLaunchedInOrder = (context: PodContext, name: string): boolean =>
  containerNamed(context.allocated.spec, name) !== undefined && !isEphemeral(context, name);

/** Returns the containers that a round starting now would launch, in spec order. */
export function newRound(context: PodContext): string[] {
  const census = censusOf(context);
  const names = ON_ITS_WAY.flatMap((lifecycle) => [...census.of(lifecycle)]);
  const due = names.filter((name) => hasTurn(context, name) && !isEphemeral(context, name));
  return inOrderOf(context.allocated.spec, due);
}

/** Whether all containers of the current round have been launched or have failed, and other containers wait. */
export const isRoundOver = (context: PodContext): boolean =>
  nextOfRound(context) === undefined && launching(context) === undefined && hasNewRound(context);

/** Returns the container to launch now: the first one of the round, once its image is present. */
export function nextLaunch(context: PodContext): string | undefined {
  const isReady = (name: string) => lookUp(context.containers, name) === 'readyToCreate';
  const ephemeral = namesOf(context.allocated.spec, 'ephemeral').find(isReady);
  if (ephemeral !== undefined) return ephemeral;
  const first = nextOfRound(context);
  return first !== undefined && isReady(first) && launching(context) === undefined ? first : undefined;
}

/** Returns the container that the launchable containers wait for, if any. */
export const blockedBy = (context: PodContext): string | undefined => launching(context) ?? nextOfRound(context);
