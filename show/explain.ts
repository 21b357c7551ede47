import type { Pod } from '../kubernetes/api/schema/pod.ts';
import type { PodPhase } from '../kubernetes/api/schema/status.ts';
import type { ActorNode, LimiterView } from './actorNode.ts';
import { answerOf } from './explainAnswer.ts';
import { type QueuePlace, queuePlaces } from './explainText.ts';
import { type LogTail, type LogTails, withLogTails } from './logTail.ts';
import { containerNames, hasNetwork, podActors, type SeenPod } from './seenPod.ts';
import { podRow } from './table.ts';

/** One actor as an explanation shows it; times are milliseconds since the epoch. */
export interface ExplainedActor extends ActorNode {
  readonly queue?: QueuePlace;
  /** How the log of its last failed run ends. */
  readonly log?: LogTail;
  readonly children: readonly ExplainedActor[];
}

/** Why a pod is where it is, as plain JSON. */
export interface Explanation {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The moment that it explains, in milliseconds since the epoch. */
  readonly at: number;
  readonly phase: PodPhase;
  /** The words of kubectl's columns STATUS and READY. */
  readonly status: string;
  readonly ready: string;
  /** One sentence: why it is not running, or that it is. */
  readonly answer: string;
  readonly addresses: readonly string[];
  /** What is wrong with its manifest as it is now, a sentence each; its last good version goes on. */
  readonly manifestProblems?: readonly string[];
  /** What is odd in the manifest that is in use. */
  readonly manifestWarnings?: readonly string[];
  readonly pod: ExplainedActor;
}

/** What else an explanation takes into account. */
export interface Surroundings {
  readonly limiters?: readonly LimiterView[];
  readonly runtimeNotReady?: string | undefined;
  /** How the logs of its failed containers end. */
  readonly logs?: LogTails | undefined;
}

/**
 * Explains a pod from its actors and its status, and from what of the node it may wait for: the limiters where it may
 * stand in line, and the runtime. `runtimeNotReady` says why that itself is not ready, be its network as it may.
 */
export function explainPod(
  seen: SeenPod,
  now: number,
  { limiters = [], runtimeNotReady, logs = new Map() }: Surroundings = {},
): Explanation {
  const actors = withLogTails(podActors(seen), logs);
  const { pod, tree } = actors;
  const placeOf = queuePlaces(pod.metadata.uid, containerNames(actors), limiters);
  const containers = new Map(actors.containers.map(({ actor }) => [actor.id, actor]));
  const explained = (actor: ActorNode, container?: string): ExplainedActor => {
    const queue = placeOf(container);
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
    answer: answerOf({ actors, now, placeOf, runtimeNotReady }),
    addresses: addressesOf(pod),
    pod: {
      ...explained(tree),
      children: tree.children.map((child) => {
        const container = containers.get(child.id);
        return container ? explained(container, container.name) : child;
      }),
    },
  };
}

/** Those of its own network, as long as it has that. */
const addressesOf = (pod: Pod): string[] =>
  pod.spec.hostNetwork || !hasNetwork(pod) ? [] : (pod.status?.podIPs ?? []).map(({ ip }) => ip);
