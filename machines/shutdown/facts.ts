/** Describes the graceful node shutdown for `explain` and the node's web page. */
import { goDuration } from '../../base/time/duration.ts';
import type { ReportedDetails } from '../../show/actors/actorNode.ts';
import type { ActorInfo } from '../shared/stateMeta.ts';
import { requiredDelayMs, type ShutdownContext } from './context.ts';

/** Describes the grace period of each group, the delay that logind grants, and the pods that have yet to terminate. */
export function facts({ snapshot: { context } }: ActorInfo<ShutdownContext>): ReportedDetails {
  const { periods, delayMs, groups } = context;
  const groupTexts = periods.map(
    ({ priority, graceSeconds }) => `${goDuration(graceSeconds * 1_000)} for pods from priority ${priority}`,
  );
  const delayText =
    delayMs === undefined
      ? []
      : [`logind delays a shutdown by up to ${goDuration(delayMs)} of ${goDuration(requiredDelayMs(context))}`];
  return {
    facts: [...groupTexts, ...delayText],
    lists: { 'priorities to terminate': groups.map(({ priority, uids }) => `${priority} (${uids.length})`) },
  };
}
