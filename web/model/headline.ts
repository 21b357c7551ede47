/** What the headline says of the selected actor: where it is, how it is, and how long still. */

import type { ShownActor, ShownPod } from '../../inspect/protocol.ts';
import { actorSteps } from '../../show/actorPath.ts';
import { type Category, categoryOf, conditionText } from '../../show/category.ts';
import { actorTitle } from '../../show/explainText.ts';
import { worstOf } from '../../show/treeRows.ts';
import type { Page } from './page.ts';
import { podOf } from './selection.ts';
import { nodeAt, ROOT } from './tree.ts';
import type { World } from './world.ts';

/** A step of the path; one without a path is no actor. */
export interface Crumb {
  readonly name: string;
  readonly path?: string;
}

/** The selected actor, as the reading panels show it. */
export interface Subject {
  readonly actor: ShownActor;
  readonly pod: ShownPod | undefined;
  /** It is not there at the moment that is shown; it was last at `at`. */
  readonly isGone: boolean;
  readonly at: number;
  /** The worst of it and all below it: what it waits for is what counts. */
  readonly told: Pick<ShownActor, 'since' | 'until' | 'waitingFor' | 'state' | 'tags'>;
  readonly category: Category;
}

/** What is selected; nothing before anything is known of it. */
export function subjectOf(page: Page): Subject | undefined {
  const path = page.selected.value;
  const world = page.world.value;
  const actor = path === undefined ? undefined : world.actors.get(path);
  const last = page.lastSeen.value;
  if (!actor) {
    if (!last || last.actor.path !== path) return undefined;
    const { actor: then, pod, at } = last;
    return { actor: then, pod, isGone: true, at, told: then, category: categoryOf(then) };
  }
  const told = worstOf(nodeAt(world, actor));
  return { actor, pod: podOf(world, actor.path), isGone: false, at: world.at, told, category: categoryOf(told) };
}

/** Returns the actor's path in words, itself last. A step that is gone keeps its name, and leads nowhere. */
export function crumbsOf(world: World, { actor, pod }: Subject): Crumb[] {
  let path = ROOT;
  const steps = actorSteps(actor.path).map(({ kind, name }): Crumb => {
    const id = kind === undefined ? name : `${kind}/${name}`;
    path = path === ROOT ? id : `${path}/${id}`;
    const there = world.actors.get(path);
    const shown = kind === 'pod' && pod ? pod.name : ((path === actor.path ? actor : there)?.name ?? name);
    return { name: shown, ...(there ? { path } : {}) };
  });
  const place: Crumb = pod ? { name: pod.namespace } : { name: world.node.name, path: ROOT };
  return [place, ...steps];
}

/** Returns what the actor is called in a sentence: `container api`. */
export const titleOf = ({ actor, pod }: Subject): string =>
  actor.path === ROOT
    ? 'the node agent'
    : actorTitle(actor.kind === 'pod' && pod ? { kind: 'pod', name: pod.name } : actor);

/** Returns the sentence that is shown until the answer has come, and for an actor that is gone. It names no state. */
export function plainAnswer(subject: Subject): string {
  const { told, isGone } = subject;
  const does = told.waitingFor === undefined ? conditionText(told) : `is waiting for ${told.waitingFor}`;
  if (!isGone) return `${titleOf(subject)} ${does}`;
  const did = does.replace(/^is /, 'was ').replace(/^has /, 'had ');
  return `${titleOf(subject)} is gone; it ${did}`;
}

/** The words of its chip: of a pod kubectl's, of any other its state's. */
export function statusOf({ actor, pod, told }: Subject): string {
  if (pod && (actor.machine === 'pod' || (actor.machine === 'container' && pod.status !== 'Running')))
    return pod.status;
  return told.state.split('.').at(-1) ?? told.state;
}
