/**
 * One container of a pod is launched at a time, postStart hook included (C9): in rounds, as the syncs of a kubelet. Who
 * is on its way when a round begins belongs to it; who comes later, as by a restart, belongs to the next one.
 */
import { lookUp } from '../../base/lookUp.ts';
import { containerNamed } from '../../kubernetes/api/containers.ts';
import { censusOf, inOrderOf, isOnItsWay, namesOf, ON_ITS_WAY } from './census.ts';
import type { PodContext } from './context.ts';

/** Whether a pod gives a container its turn in its rounds. Ephemeral containers do not wait for the hooks of the others. */
const hasTurn = ({ initialized, turnsGiven }: PodContext, name: string): boolean =>
  initialized || turnsGiven.includes(name);

const isEphemeral = ({ allocated }: PodContext, name: string): boolean =>
  namesOf(allocated.spec, 'ephemeral').includes(name);

const launching = (context: PodContext): string | undefined =>
  inOrderOf(context.allocated.spec, censusOf(context).of('launching')).find((name) => !isEphemeral(context, name));

/** The first container that is still to be launched in the present round. A failure defers its container to a later round. */
function nextOfRound(context: PodContext): string | undefined {
  for (const name of censusOf(context).fromFirstOnItsWay(context.round)) {
    if (isOnItsWay(lookUp(context.containers, name)) && hasTurn(context, name)) return name;
  }
  return undefined;
}

/** Whether any container would be launched in a round that starts now. */
function hasNewRound(context: PodContext): boolean {
  const census = censusOf(context);
  for (const lifecycle of ON_ITS_WAY) {
    for (const name of census.of(lifecycle))
      if (hasTurn(context, name) && isLaunchedInOrder(context, name)) return true;
  }
  return false;
}

/** Whether a container of the spec is launched in the order of the spec. */
const isLaunchedInOrder = (context: PodContext, name: string): boolean =>
  containerNamed(context.allocated.spec, name) !== undefined && !isEphemeral(context, name);

/** The containers that would be launched in a round that starts now, in the order of the spec. */
export function newRound(context: PodContext): string[] {
  const census = censusOf(context);
  const names = ON_ITS_WAY.flatMap((lifecycle) => [...census.of(lifecycle)]);
  const due = names.filter((name) => hasTurn(context, name) && !isEphemeral(context, name));
  return inOrderOf(context.allocated.spec, due);
}

/** Whether all containers of the present round have been launched or have failed, and others wait. */
export const isRoundOver = (context: PodContext): boolean =>
  nextOfRound(context) === undefined && launching(context) === undefined && hasNewRound(context);

/** The container that is to be launched now: the first of its round, once its image is present. */
export function nextLaunch(context: PodContext): string | undefined {
  const isReady = (name: string) => lookUp(context.containers, name) === 'readyToCreate';
  const ephemeral = namesOf(context.allocated.spec, 'ephemeral').find(isReady);
  if (ephemeral !== undefined) return ephemeral;
  const first = nextOfRound(context);
  return first !== undefined && isReady(first) && launching(context) === undefined ? first : undefined;
}

/** The container that the others that could be launched wait for, if one of them delays the others. */
export const blockedBy = (context: PodContext): string | undefined => launching(context) ?? nextOfRound(context);
