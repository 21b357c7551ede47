/** Detects pods that are rejected for resources that only terminated pods hold. */
import type { PodChange } from '../../../../actors/status/statusBoard.ts';
import { sourceOf } from '../../../../kubernetes/api/pods/staticPod.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import {
  amountRequested,
  type PodRequests,
  requestsOf,
  resourceConflict,
} from '../../../../kubernetes/resources/requests.ts';
import { namespacedName } from '../../../../kubernetes/shownName.ts';
import { isTerminalPhase } from '../../../../kubernetes/status/phase.ts';
import type { ActorNode } from '../../../../show/actors/actorNode.ts';
import type { Invariant } from '../invariant.ts';

/** The resources of a pod at admission, i.e. its largest requests so far, because a resize may still be in progress. */
type Holder = PodRequests;

/** A rejection that is checked once the status of every pod admitted before it has been published. */
interface Refusal {
  readonly pod: Pod;
  /** Resources of each pod, by UID, at the time of the rejection, or of its first status if that is published later. */
  readonly holders: Map<string, Holder | undefined>;
  /** UIDs of the pods with unpublished statuses at the end of the step. Undefined until then. */
  unpublished?: readonly string[];
}

export const freedResources: Invariant = {
  number: 6,
  description: 'A pod is never rejected for resources that only terminated pods hold.',
  follow: (watched, violated) => {
    const { host, capacity } = watched;
    const known = new Map<string, Holder | undefined>();
    const refused = new Set<string>();
    const refusals = new Set<Refusal>();
    /** UIDs of the pods whose rejection has reached the API server, so that no later agent decides on them again. */
    const failedAtServer = new Set<string>();
    const isJustified = ({ pod, holders }: Refusal): boolean => {
      const held = [...holders.values()].filter((holder) => holder !== undefined);
      return resourceConflict(requestsOf(pod), held, capacity) !== undefined;
    };
    return {
      // A new agent decides again on every pod whose rejection has not reached the API server.
      onAgentStarted: () => {
        known.clear();
        refused.clear();
        refusals.clear();
      },
      onStatus: (change) => {
        const { uid, pod, removed } = change;
        const isNew = isRefused(pod) && !refused.has(uid) && !failedAtServer.has(uid);
        if (isRefused(pod) && !removed) refused.add(uid);
        else refused.delete(uid);
        const holder = !removed && holds(change) ? largest(pod, known.get(uid)) : undefined;
        if (removed) known.delete(uid);
        else known.set(uid, holder);
        for (const { holders } of refusals) if (!holders.has(uid)) holders.set(uid, holder);
        // The agent may reserve resources for running pods that no source has reported yet.
        const isComplete = host.running().every(({ podUid }) => known.has(podUid));
        if (isNew && isComplete && isForResources(pod)) refusals.add({ pod, holders: new Map(known) });
      },
      onReport: ({ uid, status, isStatic }) => {
        if (!isStatic && isRefused({ status })) failedAtServer.add(uid);
      },
      afterStep: () => {
        for (const refusal of refusals) {
          const { pod, holders } = refusal;
          refusal.unpublished ??= watched.agent?.unpublishedUids() ?? [];
          if (!refusal.unpublished.every((uid) => holders.has(uid))) continue;
          refusals.delete(refusal);
          if (isJustified(refusal)) continue;
          violated(
            `${namespacedName(pod)}: rejected although only terminated pods hold what it needs: ${pod.status?.message}`,
          );
        }
      },
    };
  },
};

const isRefused = ({ status }: Pick<Pod, 'status'>): boolean =>
  status?.message?.startsWith('Pod was rejected: ') === true;

/** Whether a pod was rejected because a resource or a host port was not available. */
const isForResources = ({ status }: Pod): boolean =>
  status?.reason === 'NodePorts' || status?.reason?.startsWith('OutOf') === true;

/**
 * Whether a pod holds resources. It does not if it was rejected, has a terminal phase, has only stopped containers
 * while terminating, or has no API object any longer, in which case the scheduler may have assigned its resources to
 * other pods.
 */
function holds({ pod, tree }: PodChange): boolean {
  if (isRefused(pod) || isTerminalPhase(pod.status?.phase)) return false;
  const { termination } = tree;
  if (termination === undefined) return true;
  const isObjectGone =
    sourceOf(pod) === 'api' && !termination.staysUntilUnlisted && termination.reason !== 'NodeShutdown';
  return !isObjectGone && !hasStopped(tree);
}

const hasStopped = ({ children }: ActorNode): boolean =>
  children.filter(({ machine }) => machine === 'container').every(({ tags }) => tags.includes('rests'));

function largest(pod: Pod, before: Holder | undefined): Holder {
  const requests = requestsOf(pod);
  if (before === undefined) return requests;
  const names = new Set([...Object.keys(before.extra), ...Object.keys(requests.extra)]);
  const largestAmount = (name: string) => Math.max(amountRequested(before, name), amountRequested(requests, name));
  return {
    ...requests,
    cpuMillis: largestAmount('cpu'),
    memoryBytes: largestAmount('memory'),
    extra: Object.fromEntries([...names].map((name) => [name, largestAmount(name)])),
  };
}
