/** Everything about one actor that the page shows only while it is selected. */

import { machines } from '../machines/drawing/charts.ts';
import { nextWays } from '../machines/drawing/next.ts';
import { stateValueOf } from '../machines/drawing/stateValue.ts';
import { isoTime } from '../pod/api/rfc3339.ts';
import type { CoreEvent } from '../pod/events/event.ts';
import type { ActorNode } from '../pod/show/actorNode.ts';
import type { ExplainedActor, Explanation } from '../pod/show/explain.ts';
import type { NodeExplanation } from '../pod/show/explainNode.ts';
import { NotInspected } from './inspected.ts';
import type { Detail, ShownEvent } from './protocol.ts';

/** What a detail is taken from. */
export interface DetailParts extends Pick<Detail, 'path' | 'at' | 'tried' | 'taken'> {
  /** Of the actor's pod; absent of the node's own actors. */
  readonly explanation?: Explanation | undefined;
  readonly node: NodeExplanation;
  /** The actor's pod, in the states of its machines alone. */
  readonly tree: ActorNode | undefined;
  readonly events: readonly ShownEvent[];
}

/** Throws a `NotInspected` where there is no such actor. */
export function detailOf(parts: DetailParts): Detail {
  const { explanation, node, tree, path, ...rest } = parts;
  const root = explanation?.pod ?? node.node;
  // An image stands for nobody of its own in an explanation.
  const bare = actorIn(tree ?? node.node, path);
  const actor = actorIn(root, path) ?? bare;
  if (actor === undefined) throw new NotInspected(`there is no actor ${path}`);
  const problems = [...(explanation?.manifestProblems ?? []), ...(explanation?.manifestWarnings ?? [])];
  const answer = actor === root ? (explanation ?? node).answer : sentenceOf(actor);
  const lines = actor.log?.lines;
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

/** `container api is waiting for the end of the back-off until 07:44:40 after exit code 3 (Error)`. */
function sentenceOf({ machine, kind, name, state, waitingFor, until, lastFailure, lastRun }: ActorNode): string {
  const does = waitingFor === undefined ? `is ${state}` : `is waiting for ${waitingFor}`;
  const end = until === undefined ? '' : ` until ${isoTime(until).slice(11, 19)}`;
  const exit = lastRun === undefined ? '' : ` after exit code ${lastRun.exitCode} (${lastRun.reason})`;
  const failed = lastFailure === undefined || exit !== '' ? '' : `; ${lastFailure.reason}: ${lastFailure.message}`;
  // A container has its role for its kind.
  const role = kind === 'regular' ? '' : `${kind} `;
  const what = machine === 'container' ? `${role}container` : kind;
  return `${what === name ? '' : `${what} `}${name} ${does}${end}${waitingFor === undefined ? '' : exit}${failed}`;
}

/** An event of Kubernetes about a pod, the latest last. */
export const shownEvent = ({ type, reason, message, count, lastTimestamp }: CoreEvent): ShownEvent => ({
  ...{ type, reason, message, count, at: Date.parse(lastTimestamp) },
});
