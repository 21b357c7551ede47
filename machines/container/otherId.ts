/**
 * Handles a container whose ID has changed in the runtime, e.g. after a restart of the runtime with a rebuilt store.
 */

import { hasChangedId } from '../../kubernetes/lifecycle/changedId.ts';
import type { ObservedContainer } from '../../kubernetes/lifecycle/observed.ts';
import type { TerminatedRun } from '../../kubernetes/status/view.ts';
import type { ContainerContext } from './context.ts';
import { terminatedRun } from './terminatedRun.ts';

/** Moves the current attempt's container, and the data recorded for it, to a new ID. */
export function underId(context: ContainerContext, id: string | undefined): Partial<ContainerContext> {
  const { id: former, run, startupPassedId, adopted } = context;
  if (id === undefined || former === undefined || former === id) return {};
  return {
    id,
    ...(run?.containerId === former ? { run: { ...run, containerId: id } } : {}),
    ...(startupPassedId === former ? { startupPassedId: id } : {}),
    ...(adopted?.id === former ? { adopted: { ...adopted, id } } : {}),
  };
}

/** Whether the observed container is the current attempt's container, which had this ID and now has a different one. */
const isUnderOther = (
  { attempt, createdAt }: ContainerContext,
  id: string | undefined,
  shown: ObservedContainer,
): boolean => id !== undefined && createdAt !== undefined && hasChangedId({ id, attempt, createdAt }, shown);

/** Whether the observed container is the current attempt's container under a different ID. */
export const isPresentUnderOtherId = (context: ContainerContext, shown: ObservedContainer): boolean =>
  isUnderOther(context, context.id, shown);

/** Whether the observed container is the current attempt's container, under its ID or a different one. */
export const isPresent = (context: ContainerContext, shown: ObservedContainer): boolean =>
  shown.id === context.id || isPresentUnderOtherId(context, shown);

/**
 * Updates the IDs of the current container and of its earlier runs from an observed container. The earlier run may have
 * been missing until now, if its exit could not be read when the agent started.
 */
export function knownAgain(context: ContainerContext, shown: ObservedContainer): Partial<ContainerContext> {
  const { unstarted, earlierRun, runBefore } = context;
  return {
    ...(isPresentUnderOtherId(context, shown) ? underId(context, shown.id) : {}),
    ...(isUnderOther(context, unstarted, shown) ? { unstarted: shown.id } : {}),
    ...(earlierRun && isEnd(earlierRun, shown) ? { earlierRun: { ...earlierRun, containerId: shown.id } } : {}),
    ...(earlierRun === undefined && isReadAtLast(context, shown) ? { earlierRun: terminatedRun(shown) } : {}),
    ...(runBefore && isEnd(runBefore, shown) ? { runBefore: { ...runBefore, containerId: shown.id } } : {}),
  };
}

const isReadAtLast = ({ attempt }: ContainerContext, shown: ObservedContainer): boolean =>
  shown.attempt === attempt - 1 && shown.state === 'exited' && shown.exitCode !== undefined;

/**
 * Whether the observed container is a known run under a different ID, because it started and terminated at the same
 * times.
 */
const isEnd = ({ containerId, exitCode, startedAt, finishedAt }: TerminatedRun, shown: ObservedContainer): boolean =>
  containerId !== '' &&
  containerId !== shown.id &&
  finishedAt !== undefined &&
  shown.state === 'exited' &&
  [shown.exitCode === exitCode, shown.startedAt === startedAt, shown.finishedAt === finishedAt].every(Boolean);
