/**
 * Determines the order in which the containers of a pod stop. Sidecars wait for the regular containers and then stop in
 * reverse order (C11).
 */

import { lookUp } from '../../../base/values/lookUp.ts';
import { findContainerByName } from '../../../kubernetes/api/pods/containers.ts';
import type { PodContext } from '../context.ts';
import { deadlineOf } from '../termination.ts';
import { censusOf, containerNames, isWithoutProcess } from './census.ts';

/** Whether no container has a process or will get one on its own. */
export const hasNoProcess = (context: PodContext): boolean => censusOf(context).activeCount === 0;

const isSidecar = ({ allocated }: PodContext, name: string): boolean =>
  findContainerByName(allocated.spec, name)?.role === 'sidecar';

/**
 * Returns the sidecar whose turn to stop has come and that has not been released yet, or undefined if there is none.
 */
export function nextSidecarToStop(context: PodContext): string | undefined {
  if (censusOf(context).activeRegularCount > 0) return undefined;
  const lastActiveSidecar = containerNames(context.allocated.spec, 'sidecar').findLast(
    (name) => !isWithoutProcess(lookUp(context.containers, name)),
  );
  return lastActiveSidecar === undefined || context.releasedSidecars.includes(lastActiveSidecar)
    ? undefined
    : lastActiveSidecar;
}

/** Returns the command that stops one container of a terminating pod. */
export function stopCommand(context: PodContext, name: string) {
  const { termination, releasedSidecars } = context;
  return {
    type: 'container.stop' as const,
    ...(termination ? { deadline: deadlineOf(termination), graceSeconds: termination.graceSeconds } : {}),
    awaitsOtherContainers: isSidecar(context, name) && !releasedSidecars.includes(name),
  };
}
