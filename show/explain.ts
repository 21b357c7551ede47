import type { Pod } from '../kubernetes/api/schema/pod.ts';
import type { PodPhase } from '../kubernetes/api/schema/status.ts';
import type { ActorNode, LimiterView } from './actors/actorNode.ts';
import { containerNames, hasNetwork, type PodWithTree, podActors } from './actors/podActors.ts';
import { answerOf } from './explain/explainAnswer.ts';
import { type QueuePosition, queuePositions } from './explain/explainText.ts';
import { type LogTail, type LogTails, withLogTails } from './logTail.ts';
import { podRow } from './tables/table.ts';

/** An actor with the details that only an explanation shows. All times are in milliseconds since the epoch. */
export interface ExplainedActor extends ActorNode {
  readonly queue?: QueuePosition;
  /** Last lines of the log of the container's last failed run. */
  readonly log?: LogTail;
  readonly children: readonly ExplainedActor[];
}

/** The reason for a pod's current state, as plain JSON. */
export interface Explanation {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Time that the explanation refers to, in milliseconds since the epoch. */
  readonly at: number;
  readonly phase: PodPhase;
  /** Value of kubectl's STATUS column. */
  readonly status: string;
  /** Value of kubectl's READY column. */
  readonly ready: string;
  /** One sentence that says why the pod is not running, or that it is running. */
  readonly answer: string;
  readonly addresses: readonly string[];
  /** Errors of the current manifest, one sentence each. The pod keeps running with its last valid manifest. */
  readonly manifestProblems?: readonly string[];
  /** Warnings about the manifest in use. */
  readonly manifestWarnings?: readonly string[];
  readonly pod: ExplainedActor;
}

/** State of the node's limiters and runtime, which a pod may be waiting for. */
export interface ExplanationContext {
  readonly limiters?: readonly LimiterView[];
  readonly runtimeNotReady?: string | undefined;
  /** Last log lines of the pod's failed containers. */
  readonly logs?: LogTails | undefined;
}

/**
 * Explains the state of a pod based on its actors, its status, and the limiters and the runtime that it may be waiting
 * for. `runtimeNotReady` is the reason why the runtime is not ready, other than a network that is not ready.
 */
export function explainPod(
  podWithTree: PodWithTree,
  now: number,
  { limiters = [], runtimeNotReady, logs = new Map() }: ExplanationContext = {},
): Explanation {
  const actors = withLogTails(podActors(podWithTree), logs);
  const { pod, tree } = actors;
  const queuePositionOf = queuePositions(pod.metadata.uid, containerNames(actors), limiters);
  const containers = new Map(actors.containers.map(({ actor }) => [actor.id, actor]));
  const withDetails = (actor: ActorNode, container?: string): ExplainedActor => {
    const queue = queuePositionOf(container);
    const log = container === undefined ? undefined : logs.get(container);
    return { ...actor, ...(queue ? { queue } : {}), ...(log ? { log } : {}) };
  };
  const { namespace, name, uid } = pod.metadata;
  const { status, ready } = podRow(pod, now);
  return {
    namespace,
    name,
    uid,
    at: now,
    phase: pod.status?.phase ?? 'Unknown',
    status,
    ready,
    answer: answerOf({ actors, now, queuePositionOf, runtimeNotReady }),
    addresses: podAddresses(pod),
    pod: {
      ...withDetails(tree),
      children: tree.children.map((child) => {
        const container = containers.get(child.id);
        return container ? withDetails(container, container.name) : child;
      }),
    },
  };
}

/** Returns the pod's IP addresses, or none if the pod uses the host's network or has no sandbox. */
const podAddresses = (pod: Pod): string[] =>
  pod.spec.hostNetwork || !hasNetwork(pod) ? [] : (pod.status?.podIPs ?? []).map(({ ip }) => ip);
