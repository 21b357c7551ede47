/** In which order the containers of a pod stop: sidecars wait for the regular ones, then go in reverse order (C11). */
import { containersOf } from '../../pod/api/containers.ts';
import { lookUp } from '../../pod/lookUp.ts';
import type { ContainerLifecycle } from '../shared/events.ts';
import type { PodContext } from './context.ts';
import { deadlineOf } from './termination.ts';

const WITHOUT_PROCESS: readonly (ContainerLifecycle | undefined)[] = ['succeeded', 'failed', 'stopped', 'removed'];

/** Whether a container has no process and will get none by itself; one without an actor has none. */
const hasStopped = ({ containers }: PodContext, name: string): boolean =>
  !Object.hasOwn(containers, name) || WITHOUT_PROCESS.includes(lookUp(containers, name));

/** No container has, or will by itself get, a process. */
export const hasNoProcess = (context: PodContext): boolean =>
  Object.keys(context.containers).every((name) => hasStopped(context, name));

const isSidecar = ({ allocated }: PodContext, name: string): boolean =>
  containersOf(allocated.spec).some(({ container, role }) => container.name === name && role === 'sidecar');

/** The sidecar whose turn to stop has come and that was not told so yet, if there is one. */
export function nextToStop(context: PodContext): string | undefined {
  const placed = containersOf(context.allocated.spec);
  const isMainLeft = placed.some(({ container, role }) => role === 'regular' && !hasStopped(context, container.name));
  if (isMainLeft) return undefined;
  const last = placed.findLast(({ container, role }) => role === 'sidecar' && !hasStopped(context, container.name));
  return last && !context.released.includes(last.container.name) ? last.container.name : undefined;
}

/** The command that ends one container of a pod that ends. */
export function stopCommand(context: PodContext, name: string) {
  const { termination, released } = context;
  return {
    type: 'container.stop' as const,
    ...(termination ? { deadline: deadlineOf(termination), graceSeconds: termination.graceSeconds } : {}),
    waits: isSidecar(context, name) && !released.includes(name),
  };
}
