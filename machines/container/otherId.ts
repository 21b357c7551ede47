/**
 * Handles a container whose ID has changed in the runtime, e.g. because the runtime restarted and rebuilt its store.
 */

import { hasChangedId } from '../../kubernetes/lifecycle/changedId.ts';
import type { ObservedContainer } from '../../kubernetes/lifecycle/observed.ts';
import type { TerminatedRun } from '../../kubernetes/status/view.ts';
import type { ContainerContext } from './context.ts';
import { terminatedRun } from './terminatedRun.ts';

/** Moves the current attempt's container, and the data recorded for it, to a new ID. */
export function withNewId(context: ContainerContext, id: string | undefined): Partial<ContainerContext> {
  const { id: previousId, run, startupPassedId, adopted } = context;
  if (id === undefined || previousId === undefined || previousId === id) return {};
  return {
    id,
    ...(run?.containerId === previousId ? { run: { ...run, containerId: id } } : {}),
    ...(startupPassedId === previousId ? { startupPassedId: id } : {}),
    ...(adopted?.id === previousId ? { adopted: { ...adopted, id } } : {}),
  };
}

/**
 * Whether the observed container is the current attempt's container, which used to have the ID `id` and now has a
 * different one.
 */
const isSameUnderOtherId = (
  { attempt, createdAt }: ContainerContext,
  id: string | undefined,
  observed: ObservedContainer,
): boolean => id !== undefined && createdAt !== undefined && hasChangedId({ id, attempt, createdAt }, observed);

/** Whether the observed container is the current attempt's container under a different ID. */
export const isPresentUnderOtherId = (context: ContainerContext, observed: ObservedContainer): boolean =>
  isSameUnderOtherId(context, context.id, observed);

/** Whether the observed container is the current attempt's container, under its ID or a different one. */
export const isPresent = (context: ContainerContext, observed: ObservedContainer): boolean =>
  observed.id === context.id || isPresentUnderOtherId(context, observed);

/**
 * Updates the IDs of the current container and of its earlier runs from an observed container. An earlier run may be
 * added here if its exit could not be read when the agent started.
 */
export function withObservedIds(context: ContainerContext, observed: ObservedContainer): Partial<ContainerContext> {
  const { unstartedId, earlierRun, oldestRun } = context;
  return {
    ...(isPresentUnderOtherId(context, observed) ? withNewId(context, observed.id) : {}),
    ...(isSameUnderOtherId(context, unstartedId, observed) ? { unstartedId: observed.id } : {}),
    ...(earlierRun && isSameRun(earlierRun, observed)
      ? { earlierRun: { ...earlierRun, containerId: observed.id } }
      : {}),
    ...(earlierRun === undefined && isEarlierRunReadable(context, observed)
      ? { earlierRun: terminatedRun(observed) }
      : {}),
    ...(oldestRun && isSameRun(oldestRun, observed) ? { oldestRun: { ...oldestRun, containerId: observed.id } } : {}),
  };
}

const isEarlierRunReadable = ({ attempt }: ContainerContext, observed: ObservedContainer): boolean =>
  observed.attempt === attempt - 1 && observed.state === 'exited' && observed.exitCode !== undefined;

/**
 * Whether the observed container is a known run under a different ID, which is recognized by its start and termination
 * times.
 */
const isSameRun = (
  { containerId, exitCode, startedAt, finishedAt }: TerminatedRun,
  observed: ObservedContainer,
): boolean =>
  containerId !== '' &&
  containerId !== observed.id &&
  finishedAt !== undefined &&
  observed.state === 'exited' &&
  [observed.exitCode === exitCode, observed.startedAt === startedAt, observed.finishedAt === finishedAt].every(Boolean);
