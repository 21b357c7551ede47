/** What the runtime has of a pod, as its ledger is told: the claims of the containers that are there. */
import { type Claims, claimsOf } from '../../pod/resources/claims.ts';
import type { PodContext } from './context.ts';

/** The containers in the present sandbox that have not ended: dead ones take nothing. */
export const presentNames = ({ observed, sandbox }: PodContext): string =>
  observed.containers
    .filter(({ sandboxId, state }) => sandboxId === sandbox?.id && state !== 'exited')
    .map(({ name }) => name)
    .sort()
    .join();

/** Whether the ledger was told something else. */
export function isActualStale(context: PodContext): boolean {
  const present = presentNames(context);
  const { names, pod } = context.actual;
  return present !== names || (present !== '' && pod !== context.allocated);
}

/** What those containers claim; null when there are none. */
export function actualClaims(context: PodContext): Claims | null {
  const names = presentNames(context).split(',');
  const { spec } = context.allocated;
  const isPresent = ({ name }: { name: string }) => names.includes(name);
  const containers = spec.containers.filter(isPresent);
  const initContainers = (spec.initContainers ?? []).filter(isPresent);
  if (containers.length + initContainers.length === 0) return null;
  return claimsOf({ ...context.allocated, spec: { ...spec, containers, initContainers } });
}
