/** Derives the headline of the selected actor, i.e. its path, state and countdown. */

import type { ShownActor, ShownPod } from '../../../inspect/protocol.ts';
import { actorSteps } from '../../../show/actors/actorPath.ts';
import { mostSevereActor } from '../../../show/actors/treeRows.ts';
import { type Category, categoryOf, conditionText } from '../../../show/category.ts';
import { actorTitle } from '../../../show/explain/explainText.ts';
import { nodeAt, ROOT } from '../actors/tree.ts';
import { podOf } from '../navigation/selection.ts';
import type { Page } from '../page.ts';
import type { World } from '../server/world.ts';

/** An element of the breadcrumb. `path` is undefined if the actor does not exist or if the element is a namespace. */
export interface Crumb {
  readonly name: string;
  readonly path?: string;
}

/** The selected actor, for the panels that describe it. */
export interface Subject {
  readonly actor: ShownActor;
  readonly pod: ShownPod | undefined;
  /** Whether the actor is missing from the displayed snapshot. If so, `at` is the time at which it was last seen. */
  readonly isDeleted: boolean;
  readonly at: number;
  /**
   * The actor with the most severe category among the selected actor and its descendants. The headline describes what
   * this actor is waiting for.
   */
  readonly worstActor: Pick<ShownActor, 'since' | 'until' | 'waitingFor' | 'state' | 'tags'>;
  readonly category: Category;
}

/** Returns the selected actor. Undefined if the page has never received it. */
export function subjectOf(page: Page): Subject | undefined {
  const path = page.selectedPath.value;
  const world = page.world.value;
  const actor = path === undefined ? undefined : world.actors.get(path);
  const lastKnown = page.lastKnown.value;
  if (!actor) {
    if (!lastKnown || lastKnown.actor.path !== path) return undefined;
    const { actor: lastActor, pod, at } = lastKnown;
    return { actor: lastActor, pod, isDeleted: true, at, worstActor: lastActor, category: categoryOf(lastActor) };
  }
  const worstActor = mostSevereActor(nodeAt(world, actor));
  return {
    actor,
    pod: podOf(world, actor.path),
    isDeleted: false,
    at: world.at,
    worstActor,
    category: categoryOf(worstActor),
  };
}

/** Returns the breadcrumb, which ends with the actor itself. Actors that no longer exist have no link. */
export function breadcrumb(world: World, { actor, pod }: Subject): Crumb[] {
  let path = ROOT;
  const actorCrumbs = actorSteps(actor.path).map(({ kind, name }): Crumb => {
    const id = kind === undefined ? name : `${kind}/${name}`;
    path = path === ROOT ? id : `${path}/${id}`;
    const existingActor = world.actors.get(path);
    const displayName =
      kind === 'pod' && pod ? pod.name : ((path === actor.path ? actor : existingActor)?.name ?? name);
    return { name: displayName, ...(existingActor ? { path } : {}) };
  });
  const rootCrumb: Crumb = pod ? { name: pod.namespace } : { name: world.node.name, path: ROOT };
  return [rootCrumb, ...actorCrumbs];
}

/** Returns the actor's kind and name for use in a sentence, e.g. `container api`. */
export const subjectTitle = ({ actor, pod }: Subject): string =>
  actor.path === ROOT
    ? 'the node agent'
    : actorTitle(actor.kind === 'pod' && pod ? { kind: 'pod', name: pod.name } : actor);

/**
 * Returns the sentence to show while the answer is loading or if the actor no longer exists. The sentence contains no
 * state names.
 */
export function fallbackAnswer(subject: Subject): string {
  const { worstActor, isDeleted } = subject;
  const condition =
    worstActor.waitingFor === undefined ? conditionText(worstActor) : `is waiting for ${worstActor.waitingFor}`;
  if (!isDeleted) return `${subjectTitle(subject)} ${condition}`;
  const pastCondition = condition.replace(/^is /, 'was ').replace(/^has /, 'had ');
  return `${subjectTitle(subject)} is gone; it ${pastCondition}`;
}

/**
 * Returns the text of the status chip, which is kubectl's STATUS for a pod and otherwise the last part of the state.
 */
export function chipText({ actor, pod, worstActor }: Subject): string {
  if (pod && (actor.machine === 'pod' || (actor.machine === 'container' && pod.status !== 'Running')))
    return pod.status;
  return worstActor.state.split('.').at(-1) ?? worstActor.state;
}
