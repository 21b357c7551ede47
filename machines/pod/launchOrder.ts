/**
 * One container of a pod is launched at a time, postStart hook included (C9): in rounds, as the syncs of a kubelet. Who
 * is on its way when a round begins belongs to it; who comes later, as by a restart, belongs to the next one.
 */
import { containersOf } from '../../pod/api/containers.ts';
import { lookUp } from '../../pod/lookUp.ts';
import type { ContainerRole } from '../../pod/status/view.ts';
import type { PodContext } from './context.ts';

const namesOf = ({ allocated }: PodContext, roles: readonly ContainerRole[]): string[] =>
  containersOf(allocated.spec).flatMap(({ container, role }) => (roles.includes(role) ? [container.name] : []));

/** Ephemeral containers have no place among them: who wants to look into a pod does not wait for its hooks. */
const inOrder = (context: PodContext): string[] => namesOf(context, ['init', 'sidecar', 'regular']);

/** Its turn has come, and nothing that failed keeps it: it looks for its image, or could be launched. */
const isOnItsWay = ({ containers, initialized, turnsGiven }: PodContext, name: string): boolean =>
  ['coming', 'readyToCreate'].includes(lookUp(containers, name) ?? '') && (initialized || turnsGiven.includes(name));

const launching = (context: PodContext): string | undefined =>
  inOrder(context).find((name) => lookUp(context.containers, name) === 'launching');

/** Who is still to be launched in the present round; a failure puts its container off to a later one. */
const restOfRound = (context: PodContext): string[] => context.round.filter((name) => isOnItsWay(context, name));

/** Who would be launched in a round that begins now. */
export const newRound = (context: PodContext): string[] => inOrder(context).filter((name) => isOnItsWay(context, name));

/** All of the present round have been launched or have failed, and others wait. */
export const isRoundOver = (context: PodContext): boolean =>
  restOfRound(context).length === 0 && launching(context) === undefined && newRound(context).length > 0;

/** The container that is to be launched now: the first of its round, once its image is there. */
export function nextLaunch(context: PodContext): string | undefined {
  const ephemeral = namesOf(context, ['ephemeral']).find(
    (name) => lookUp(context.containers, name) === 'readyToCreate',
  );
  if (ephemeral !== undefined) return ephemeral;
  const [first] = restOfRound(context);
  const isDue =
    first !== undefined && lookUp(context.containers, first) === 'readyToCreate' && launching(context) === undefined;
  return isDue ? first : undefined;
}

/** Whom the others that could be launched wait for, if it is one of them that keeps them. */
export const blockedBy = (context: PodContext): string | undefined => launching(context) ?? restOfRound(context)[0];
