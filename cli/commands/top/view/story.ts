/** The story of each actor, as far as somebody who looks at all of them now and then can tell it. */
import type { CoreEvent } from '../../../../kubernetes/events/event.ts';
import { type ActorNode, CALL } from '../../../../show/actors/actorNode.ts';
import type { NodeActors } from '../../../../show/actors/actorRows.ts';
import { podActors } from '../../../../show/actors/podActors.ts';
import { categoryOf, isHealthy, stableState } from '../../../../show/category.ts';
import { failureText } from '../../../../show/explain/explainText.ts';

/** One thing that happened. */
export interface Told {
  /** In milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
}

interface Move extends Told {
  readonly path: string;
}

/** The moves of all actors from the first look on. */
export interface Story {
  /** When it was looked first; undefined before. */
  readonly since: () => number | undefined;
  look(actors: NodeActors): void;
  /** The moves of an actor and those below it, the oldest first. */
  of(actor: ActorNode): Told[];
}

/** So many moves are kept, of all actors together. */
const KEPT = 5_000;

const withBelow = (actor: ActorNode): ActorNode[] => [
  actor,
  ...actor.children.filter(({ kind }) => kind !== CALL).flatMap(withBelow),
];

const allOf = ({ node, pods }: NodeActors): Map<string, ActorNode> =>
  new Map([node, ...pods.map((seen) => podActors(seen).tree)].flatMap(withBelow).map((each) => [each.path, each]));

/** What tells two looks at an actor apart: a try of a probe does not. */
function signOf(actor: ActorNode): string {
  const state = stableState(actor);
  return state === actor.state ? `${state} ${actor.since}` : state;
}

function moveText(actor: ActorNode, before: ActorNode | undefined): string {
  const { lastFailure, waitingFor } = actor;
  const was = before === undefined ? '' : `${stableState(before)} → `;
  const why = !isHealthy(categoryOf(actor)) && lastFailure ? `: ${failureText(lastFailure)}` : '';
  const wait =
    why === '' && waitingFor !== undefined && !isHealthy(categoryOf(actor)) ? `, waiting for ${waitingFor}` : '';
  return `${was}${stableState(actor)}${why}${wait}`;
}

export function createStory(): Story {
  let before: ReadonlyMap<string, ActorNode> | undefined;
  let first: number | undefined;
  const moves: Move[] = [];
  return {
    since: () => first,
    look(actors) {
      const present = allOf(actors);
      for (const [path, actor] of before === undefined ? [] : present) {
        const was = before?.get(path);
        if (was && signOf(was) === signOf(actor)) continue;
        moves.push({ at: Math.min(actor.since, actors.at), path, text: moveText(actor, was) });
      }
      for (const path of before?.keys() ?? []) {
        if (!present.has(path)) moves.push({ at: actors.at, path, text: 'is gone' });
      }
      moves.splice(0, moves.length - KEPT);
      first ??= actors.at;
      before = present;
    },
    of: ({ path, machine }) =>
      moves
        .filter((move) => isBelow(move.path, path, machine))
        .map(({ at, path: who, text }) => ({ at, text: who === path ? text : `${shortName(who, path)} ${text}` })),
  };
}

/** The node's own actors have paths of their own; those of pods are not among them. */
const isBelow = (path: string, top: string, machine: string): boolean =>
  path === top || (machine === 'nodeAgent' ? !path.startsWith('pod/') : path.startsWith(`${top}/`));

const shortName = (path: string, top: string): string => (top === '' ? path : path.slice(top.length + 1));

/** What of the events of the last hour is about a pod or, where that is named, one of its containers. */
export function toldEvents(events: readonly CoreEvent[], uid: string, container?: string): Told[] {
  return events
    .filter(({ involvedObject }) => involvedObject.uid === uid)
    .filter(({ involvedObject: { fieldPath = '' } }) => container === undefined || fieldPath.endsWith(`{${container}}`))
    .map(({ lastTimestamp, type, reason, message, count }) => ({
      at: Date.parse(lastTimestamp),
      text: `${type === 'Warning' ? 'warning' : 'event'} ${reason}: ${message}${count > 1 ? ` (${count} times)` : ''}`,
    }));
}
