/**
 * Builds the events about pods that the API server has returned but the agent cannot parse
 * (`pkg/kubelet/config/config.go`).
 */

import { truncate } from '../../../base/text/shortText.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import { type RecordedEvent, recordedEvents, warning } from '../../../kubernetes/events/recordedEvent.ts';
import type { NodeEvent, SourceProblem } from '../../shared/events/events.ts';
import type { NodeContext } from '../context.ts';

/** Maximum length in characters of the reasons in an event. Longer reasons are truncated. */
const MAX_REASONS_LENGTH = 1_024;

/**
 * Returns an event for each pod from the API server that has become unparsable, or is unparsable for a different reason
 * than before.
 */
export function invalidPodEvents({ problems }: Pick<NodeContext, 'problems'>, event: NodeEvent): RecordedEvent[] {
  if (event.type !== 'config.podsListed' && event.type !== 'config.problemsChanged') return [];
  const previousReasons = reasonsByUid(lookUp(problems, event.source));
  return [...reasonsByUid(event.problems)].flatMap(([uid, { pod, reasons }]) => {
    if (previousReasons.get(uid)?.reasons === reasons) return [];
    const [namespace = '', name = ''] = pod.split('/');
    const message = `Error validating pod ${name}_${namespace}(${uid}) from ${event.source}, ignoring: ${truncate(reasons, MAX_REASONS_LENGTH)}`;
    return recordedEvents(
      { kind: 'Pod', apiVersion: 'v1', namespace, name, uid },
      warning('FailedValidation', message),
    );
  });
}

function reasonsByUid(problems: readonly SourceProblem[] = []) {
  const podProblems = problems.flatMap(({ uid, pod = '', path, message }) =>
    uid === undefined ? [] : [{ uid, pod, reason: path === '' ? message : `${path}: ${message}` }],
  );
  return new Map(
    Array.from(
      Map.groupBy(podProblems, ({ uid }) => uid),
      ([uid, problems]) => [
        uid,
        { pod: problems[0]?.pod ?? '', reasons: problems.map(({ reason }) => reason).join('; ') },
      ],
    ),
  );
}
