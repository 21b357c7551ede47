/** A container that the runtime has under another id than before, as after a restart with its store put together anew. */

import { hasChangedId } from '../../kubernetes/lifecycle/changedId.ts';
import type { ObservedContainer } from '../../kubernetes/lifecycle/observed.ts';
import type { TerminatedRun } from '../../kubernetes/status/view.ts';
import type { ContainerContext } from './context.ts';
import { terminatedRun } from './terminatedRun.ts';

/** The container of the present attempt goes on under this id, if one was found: what is known of it holds for that. */
export function underId(context: ContainerContext, id: string | undefined): Partial<ContainerContext> {
  const { id: former, run, startedUp, adopted } = context;
  if (id === undefined || former === undefined || former === id) return {};
  return {
    id,
    ...(run?.containerId === former ? { run: { ...run, containerId: id } } : {}),
    ...(startedUp === former ? { startedUp: id } : {}),
    ...(adopted?.id === former ? { adopted: { ...adopted, id } } : {}),
  };
}

/** Whether what is shown is the container of the present attempt that had this id, under another. */
const isUnderOther = (
  { attempt, createdAt }: ContainerContext,
  id: string | undefined,
  shown: ObservedContainer,
): boolean => id !== undefined && createdAt !== undefined && hasChangedId({ id, attempt, createdAt }, shown);

/** Whether what is shown is the container of the present attempt, under another id. */
export const isPresentUnderOtherId = (context: ContainerContext, shown: ObservedContainer): boolean =>
  isUnderOther(context, context.id, shown);

/** Whether what is shown is the container of the present attempt, under its id or another. */
export const isPresent = (context: ContainerContext, shown: ObservedContainer): boolean =>
  shown.id === context.id || isPresentUnderOtherId(context, shown);

/**
 * What is known of it again in what is shown: the present container, or one of its runs that have ended. The one before the
 * present may not have been known until now, as its end could not be read when the agent started.
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

/** Whether it is a run that is known under another id: one that began and ended when that did. */
const isEnd = ({ containerId, exitCode, startedAt, finishedAt }: TerminatedRun, shown: ObservedContainer): boolean =>
  containerId !== '' &&
  containerId !== shown.id &&
  finishedAt !== undefined &&
  shown.state === 'exited' &&
  [shown.exitCode === exitCode, shown.startedAt === startedAt, shown.finishedAt === finishedAt].every(Boolean);
