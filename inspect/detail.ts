/** Everything about one actor that the page shows only while it is selected. */

import { isoTime } from '../kubernetes/api/rfc3339.ts';
import type { CoreEvent } from '../kubernetes/events/event.ts';
import { machines } from '../machines/drawing/charts.ts';
import { nextWays } from '../machines/drawing/next.ts';
import { stateValueOf } from '../machines/drawing/stateValue.ts';
import type { ActorNode } from '../show/actorNode.ts';
import { actorSteps } from '../show/actorPath.ts';
import { conditionText } from '../show/category.ts';
import type { ExplainedActor, Explanation } from '../show/explain.ts';
import type { NodeExplanation } from '../show/explainNode.ts';
import type { PartExplanation, PodPart } from '../show/explainPart.ts';
import { actorTitle, endCause } from '../show/explainText.ts';
import { NotInspected } from './inspected.ts';
import type { Detail, ShownEvent } from './protocol.ts';

/** The sources of a detail. */
export interface DetailParts extends Pick<Detail, 'path' | 'at' | 'events'> {
  /** Explanation of the actor's pod; absent of the node's own actors. */
  readonly explanation?: Explanation | undefined;
  /** Explanation of the container or volume itself; absent of all other actors. */
  readonly part?: PartExplanation | undefined;
  readonly node: NodeExplanation;
  /** The actor's pod, in the states of its machines alone. */
  readonly tree: ActorNode | undefined;
}

/** Returns the container or volume that a path names, in the form that `explain` takes. Undefined for all other actors. */
export function partAt(path: string): PodPart | undefined {
  const [, last, ...others] = actorSteps(path);
  const kind = last?.kind;
  return last && others.length === 0 && (kind === 'container' || kind === 'volume')
    ? { kind, name: last.name }
    : undefined;
}

/** Throws a `NotInspected` where there is no such actor. */
export function detailOf(parts: DetailParts): Detail {
  const { explanation, part, node, tree, path, ...rest } = parts;
  const root = explanation?.pod ?? node.node;
  // An image stands for nobody of its own in an explanation.
  const bare = actorIn(tree ?? node.node, path);
  const actor = actorIn(root, path) ?? bare;
  if (actor === undefined) throw new NotInspected(`there is no actor ${path}`);
  const problems = [...(explanation?.manifestProblems ?? []), ...(explanation?.manifestWarnings ?? [])];
  const answer = actor === root ? (explanation ?? node).answer : (part?.answer ?? sentenceOf(actor));
  const lines = (part?.actor ?? actor).log?.lines;
  const next = bare ? nextOf(bare) : [];
  return { path, ...rest, answer, problems, next, ...(lines === undefined ? {} : { log: { lines } }) };
}

/** The actor at a path in a tree. */
export function actorIn(tree: ExplainedActor, path: string): ExplainedActor | undefined {
  if (tree.path === path) return tree;
  for (const child of tree.children) {
    const found = actorIn(child, path);
    if (found) return found;
  }
  return undefined;
}

/** Nothing of an actor that runs no machine. */
function nextOf({ machine: id, state, until }: ActorNode): Detail['next'] {
  const machine = machines.find((each) => each.id === id);
  return machine === undefined || state === 'broken' ? [] : nextWays(machine, stateValueOf(state), until);
}

/** `container api is waiting for the end of the back-off until 07:44:40; its last run: killed (SIGKILL) after 2s`. */
function sentenceOf(actor: ActorNode): string {
  const { waitingFor, until, lastFailure, lastRun } = actor;
  const does = waitingFor === undefined ? conditionText(actor) : `is waiting for ${waitingFor}`;
  const end = until === undefined ? '' : ` until ${isoTime(until).slice(11, 19)}`;
  const exit = lastRun === undefined ? '' : `; its last run: ${endCause(lastRun)}`;
  const failed = lastFailure === undefined || exit !== '' ? '' : `; ${lastFailure.reason}: ${lastFailure.message}`;
  return `${actorTitle(actor)} ${does}${end}${waitingFor === undefined ? '' : exit}${failed}`;
}

/**
 * Returns an event of Kubernetes as the page shows it. `lifeFrom` is when the present life of its pod began: an event that
 * occurred before that as well has no count, because nobody knows how many of its occurrences belong to which life.
 */
export function shownEvent(
  { type, reason, message, count, firstTimestamp, lastTimestamp }: CoreEvent,
  lifeFrom: number,
): ShownEvent {
  const isOfThisLife = Date.parse(firstTimestamp) >= lifeFrom;
  return { type, reason, message, at: Date.parse(lastTimestamp), ...(isOfThisLife ? { count } : {}) };
}
