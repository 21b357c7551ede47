/** Assembles the details of one actor, which the page requests only for the selected actor. */

import { isoTime } from '../kubernetes/api/values/rfc3339.ts';
import type { CoreEvent } from '../kubernetes/events/event.ts';
import { machines } from '../machines/drawing/charts.ts';
import { listNextTransitions } from '../machines/drawing/listNextTransitions.ts';
import { stateValueOf } from '../machines/drawing/stateValue.ts';
import type { ActorNode } from '../show/actors/actorNode.ts';
import { actorSteps } from '../show/actors/actorPath.ts';
import { conditionText } from '../show/category.ts';
import type { NodeExplanation } from '../show/explain/explainNode.ts';
import type { PartExplanation, PodPart } from '../show/explain/explainPart.ts';
import { actorTitle, terminationCause } from '../show/explain/explainText.ts';
import type { ExplainedActor, Explanation } from '../show/explain.ts';
import { NotInspected } from './inspected.ts';
import type { ActorDetail, ShownEvent } from './protocol.ts';

/** Sources of the details, which `createDetail` combines. */
export interface DetailSources extends Pick<ActorDetail, 'path' | 'at' | 'events' | 'nextEvictions'> {
  /** Explanation of the actor's pod. Undefined for the node's own actors. */
  readonly explanation?: Explanation | undefined;
  /** Explanation of the actor itself if it is a container or a volume. Undefined for all other actors. */
  readonly part?: PartExplanation | undefined;
  readonly node: NodeExplanation;
  /** The actor tree of the pod, which also contains the actors that an explanation omits. */
  readonly tree: ActorNode | undefined;
}

/**
 * Returns the container or volume at the given path, in the form that `explain` accepts. Undefined for all other
 * actors.
 */
export function partAtPath(path: string): PodPart | undefined {
  const [, last, ...others] = actorSteps(path);
  const kind = last?.kind;
  return last && others.length === 0 && (kind === 'container' || kind === 'volume')
    ? { kind, name: last.name }
    : undefined;
}

/** Assembles the details of an actor. Throws `NotInspected` if the actor does not exist. */
export function createDetail(sources: DetailSources): ActorDetail {
  const { explanation, part, node, tree, path, ...rest } = sources;
  const rootActor = explanation?.pod ?? node.node;
  // Look up the actor of an image in the tree, because an explanation contains no such actors.
  const treeActor = findActor(tree ?? node.node, path);
  const actor = findActor(rootActor, path) ?? treeActor;
  if (actor === undefined) throw new NotInspected(`there is no actor ${path}`);
  const manifestProblems = [...(explanation?.manifestProblems ?? []), ...(explanation?.manifestWarnings ?? [])];
  const answer = actor === rootActor ? (explanation ?? node).answer : (part?.answer ?? describeActor(actor));
  const logLines = (part?.actor ?? actor).log?.lines;
  const possibleTransitions = treeActor ? nextTransitions(treeActor) : [];
  return {
    path,
    ...rest,
    answer,
    problems: manifestProblems,
    next: possibleTransitions,
    ...(logLines === undefined ? {} : { log: { lines: logLines } }),
  };
}

/** Returns the actor at the given path in a tree. */
export function findActor(tree: ExplainedActor, path: string): ExplainedActor | undefined {
  if (tree.path === path) return tree;
  for (const child of tree.children) {
    const match = findActor(child, path);
    if (match) return match;
  }
  return undefined;
}

/** Returns the transitions that an actor can take next. Empty unless the actor runs a state machine. */
function nextTransitions({ machine: id, state, until }: ActorNode): ActorDetail['next'] {
  const machine = machines.find((each) => each.id === id);
  return machine === undefined || state === 'broken' ? [] : listNextTransitions(machine, stateValueOf(state), until);
}

/**
 * Describes an actor in one line, e.g. `container api is waiting for the end of the back-off until 07:44:40; its last
 * run: killed (SIGKILL) after 2s`.
 */
function describeActor(actor: ActorNode): string {
  const { waitingFor, until, lastFailure, lastRun } = actor;
  const activity = waitingFor === undefined ? conditionText(actor) : `is waiting for ${waitingFor}`;
  const untilText = until === undefined ? '' : ` until ${isoTime(until).slice(11, 19)}`;
  const exitText = lastRun === undefined ? '' : `; its last run: ${terminationCause(lastRun)}`;
  const failureText =
    lastFailure === undefined || exitText !== '' ? '' : `; ${lastFailure.reason}: ${lastFailure.message}`;
  return `${actorTitle(actor)} ${activity}${untilText}${waitingFor === undefined ? '' : exitText}${failureText}`;
}

/**
 * Converts a Kubernetes event for the page. `podStartedAt` is the start time of the current pod with this UID. The
 * count is omitted if the event first occurred earlier, because it would include occurrences in the previous pod.
 */
export function toShownEvent(
  { type, reason, message, count, firstTimestamp, lastTimestamp }: CoreEvent,
  podStartedAt: number,
): ShownEvent {
  const isFromThisPod = Date.parse(firstTimestamp) >= podStartedAt;
  return { type, reason, message, at: Date.parse(lastTimestamp), ...(isFromThisPod ? { count } : {}) };
}
