/** What the runtime has of a pod, as admission is told: the requests of the containers that are there. */
import { type PodRequests, requestsOf } from '../../pod/resources/requests.ts';
import { sameValue } from '../../pod/sameValue.ts';
import type { PodContext } from './context.ts';

/** The containers in the present sandbox that have not ended: dead ones take nothing. */
export const presentNames = ({ observed, sandbox }: PodContext): string =>
  observed.containers
    .filter(({ sandboxId, state }) => sandboxId === sandbox?.id && state !== 'exited')
    .map(({ name }) => name)
    .sort()
    .join();

/** Whether admission was told something else. */
export function isActualStale(context: PodContext): boolean {
  const present = presentNames(context);
  const { names, pod } = context.actual;
  return present !== names || (present !== '' && !sameValue(pod.spec, context.allocated.spec));
}

/** What those containers request; null when there are none. */
export function actualRequests(context: PodContext): PodRequests | null {
  const names = presentNames(context).split(',');
  const { spec } = context.allocated;
  const isPresent = ({ name }: { name: string }) => names.includes(name);
  const containers = spec.containers.filter(isPresent);
  const initContainers = (spec.initContainers ?? []).filter(isPresent);
  if (containers.length + initContainers.length === 0) return null;
  return requestsOf({ ...context.allocated, spec: { ...spec, containers, initContainers } });
}
