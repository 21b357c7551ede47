/** Derives the history of state changes ("story") of each actor from the differences between polls. */
import type { CoreEvent } from '../../../../kubernetes/events/event.ts';
import { type ActorNode, CALL_KIND } from '../../../../show/actors/actorNode.ts';
import type { NodeActors } from '../../../../show/actors/actorRows.ts';
import { podActors } from '../../../../show/actors/podActors.ts';
import { categoryOf, isHealthy, stableState } from '../../../../show/category.ts';
import { failureText } from '../../../../show/explain/explainText.ts';

export interface StoryEntry {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly description: string;
}

interface ActorEntry extends StoryEntry {
  readonly path: string;
}

/** The state changes of all actors since the first poll. */
export interface Story {
  /** Time of the first poll. Undefined until then. */
  readonly startedAt: () => number | undefined;
  observe(actors: NodeActors): void;
  /** Returns the changes of an actor and its descendants, oldest first. */
  entriesOf(actor: ActorNode): StoryEntry[];
}

/** Maximum number of retained changes for all actors combined. The oldest ones are dropped. */
const MAX_ENTRIES = 5_000;

const listWithDescendants = (actor: ActorNode): ActorNode[] => [
  actor,
  ...actor.children.filter(({ kind }) => kind !== CALL_KIND).flatMap(listWithDescendants),
];

const actorsByPath = ({ node, pods }: NodeActors): Map<string, ActorNode> =>
  new Map(
    [node, ...pods.map((pod) => podActors(pod).tree)].flatMap(listWithDescendants).map((each) => [each.path, each]),
  );

/** Returns a comparison key that changes when the state changes. The start of a probe attempt is not a change. */
function stateKey(actor: ActorNode): string {
  const state = stableState(actor);
  return state === actor.state ? `${state} ${actor.since}` : state;
}

function changeText(actor: ActorNode, previousActor: ActorNode | undefined): string {
  const { lastFailure, waitingFor } = actor;
  const previousState = previousActor === undefined ? '' : `${stableState(previousActor)} → `;
  const why = !isHealthy(categoryOf(actor)) && lastFailure ? `: ${failureText(lastFailure)}` : '';
  const waitSuffix =
    why === '' && waitingFor !== undefined && !isHealthy(categoryOf(actor)) ? `, waiting for ${waitingFor}` : '';
  return `${previousState}${stableState(actor)}${why}${waitSuffix}`;
}

export function createStory(): Story {
  let previousActors: ReadonlyMap<string, ActorNode> | undefined;
  let startedAt: number | undefined;
  const entries: ActorEntry[] = [];
  return {
    startedAt: () => startedAt,
    observe(actors) {
      const currentActors = actorsByPath(actors);
      for (const [path, actor] of previousActors === undefined ? [] : currentActors) {
        const previousActor = previousActors?.get(path);
        if (previousActor && stateKey(previousActor) === stateKey(actor)) continue;
        entries.push({ at: Math.min(actor.since, actors.at), path, description: changeText(actor, previousActor) });
      }
      for (const path of previousActors?.keys() ?? []) {
        if (!currentActors.has(path)) entries.push({ at: actors.at, path, description: 'is gone' });
      }
      entries.splice(0, entries.length - MAX_ENTRIES);
      startedAt ??= actors.at;
      previousActors = currentActors;
    },
    entriesOf: ({ path, machine }) =>
      entries
        .filter((move) => isDescendantOrSelf(move.path, path, machine))
        .map(({ at, path: actorPath, description }) => ({
          at,
          description: actorPath === path ? description : `${shortName(actorPath, path)} ${description}`,
        })),
  };
}

/**
 * Whether a path belongs to the actor `top` or to one of its descendants. All actors that do not belong to pods are
 * treated as descendants of the node's actor.
 */
const isDescendantOrSelf = (path: string, top: string, machine: string): boolean =>
  path === top || (machine === 'nodeAgent' ? !path.startsWith('pod/') : path.startsWith(`${top}/`));

const shortName = (path: string, top: string): string => (top === '' ? path : path.slice(top.length + 1));

/** Converts the events about a pod or one of its containers to story entries. */
export function eventEntries(events: readonly CoreEvent[], uid: string, container?: string): StoryEntry[] {
  return events
    .filter(({ involvedObject }) => involvedObject.uid === uid)
    .filter(({ involvedObject: { fieldPath = '' } }) => container === undefined || fieldPath.endsWith(`{${container}}`))
    .map(({ lastTimestamp, type, reason, message, count }) => ({
      at: Date.parse(lastTimestamp),
      description: `${type === 'Warning' ? 'warning' : 'event'} ${reason}: ${message}${count > 1 ? ` (${count} times)` : ''}`,
    }));
}
