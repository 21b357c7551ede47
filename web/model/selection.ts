/** Converts between the path of an actor and the location that selects it. */

import { batch, effect } from '@preact/signals';
import { nearest } from '../../base/nearest.ts';
import type { ShownPod } from '../../inspect/protocol.ts';
import { withoutNode } from '../../kubernetes/shownName.ts';
import { podUidOf } from '../../show/actorPath.ts';
import { go } from './go.ts';
import type { LastSeen, Page } from './page.ts';
import type { Place } from './place.ts';
import type { World } from './world.ts';

/** Returns the name of a pod. For a static pod, the node suffix is removed. */
export const podName = ({ name, isStatic }: ShownPod, { node }: World): string =>
  isStatic ? withoutNode(name, node.name) : name;

/** Returns the pod that contains an actor. */
export const podOf = (world: World, path: string): ShownPod | undefined => {
  const uid = podUidOf(path);
  return uid === undefined ? undefined : world.pods.get(uid);
};

/** Returns the pods with this full name, otherwise the static pods whose manifest has this name. */
function podsCalled(world: World, namespace: string, name: string): ShownPod[] {
  const pods = [...world.pods.values()].filter((pod) => pod.namespace === namespace);
  const exact = pods.filter((pod) => pod.name === name);
  return exact.length > 0 ? exact : pods.filter((pod) => podName(pod, world) === name);
}

/** Returns the pod with this name. If there are several, the UID decides, otherwise the latest one wins. */
function podCalled(world: World, namespace: string, name: string, uid?: string): ShownPod | undefined {
  const called = podsCalled(world, namespace, name);
  return called.find((pod) => pod.uid === uid) ?? called.at(-1);
}

/** Returns the path of the actor at a location. Undefined if the actor does not exist or the location has no steps. */
export function pathAt(world: World, { steps, uid }: Pick<Place, 'steps' | 'uid'>): string | undefined {
  const [kind, ...others] = steps;
  if (kind === 'node') return known(world, others.join('/'));
  const [namespace, name, ...below] = others;
  if (kind !== 'pod' || namespace === undefined || name === undefined) return undefined;
  const pod = podCalled(world, namespace, name, uid);
  return pod && known(world, ['pod', pod.uid, ...below].join('/'));
}

/**
 * Returns the path of the actor that a location with an unknown name most likely refers to. It matches step by step,
 * first the pod with the most similar name, then its most similar actor. If a step has no similar match, the parent is
 * returned. Undefined if the first step has no similar match.
 */
export function nearestPath(world: World, { steps }: Pick<Place, 'steps'>): string | undefined {
  const [kind, ...others] = steps;
  if (kind === 'node') return nearestBelow(world, '', others);
  const [namespace = '', name = '', ...below] = others;
  const pod = nearestPod(world, namespace, name);
  return pod && (nearestBelow(world, `pod/${pod.uid}`, below) ?? known(world, `pod/${pod.uid}`));
}

/** Searches the namespace with the most similar name first, then all namespaces. */
function nearestPod(world: World, namespace: string, name: string): ShownPod | undefined {
  const pods = [...world.pods.values()];
  const meant = nearest(namespace, new Set(pods.map((pod) => pod.namespace)));
  for (const some of [pods.filter((pod) => pod.namespace === meant), pods]) {
    const match = nearest(name, new Set(some.flatMap((pod) => [podName(pod, world), pod.name])));
    const pod = some.find((each) => podName(each, world) === match || each.name === match);
    if (pod) return pod;
  }
  return undefined;
}

/** Descends from an actor while the next step has a similar match. */
function nearestBelow(world: World, above: string, steps: readonly string[]): string | undefined {
  let path: string | undefined;
  let from = above;
  const left = [...steps];
  while (left.length > 0) {
    const children: readonly string[] = world.children.get(from) ?? [];
    const ids = new Map(
      children.map((child): [string, string] => [child.slice(from === '' ? 0 : from.length + 1), child]),
    );
    // An id is a single word, or a kind and a name.
    const found = [2, 1].flatMap((length) => {
      const id = left.length < length ? undefined : nearest(left.slice(0, length).join('/'), ids.keys());
      return id === undefined || id.split('/').length !== length ? [] : [{ path: ids.get(id), length }];
    })[0];
    if (found?.path === undefined) return path;
    path = found.path;
    from = found.path;
    left.splice(0, found.length);
  }
  return path;
}

const known = (world: World, path: string): string | undefined => (world.actors.has(path) ? path : undefined);

/** Returns the steps that select an actor. The UID is added if several pods have the name. */
export function stepsOf(
  world: World,
  path: string,
): { readonly steps: readonly string[]; readonly uid: string | undefined } {
  const uid = podUidOf(path);
  const below = path.split('/').filter(Boolean);
  const pod = uid === undefined ? undefined : world.pods.get(uid);
  if (!pod) return { steps: ['node', ...below], uid: undefined };
  const { namespace } = pod;
  const isMeant = (name: string) => podsCalled(world, namespace, name).every((each) => each.uid === uid);
  const name = [podName(pod, world), pod.name].find(isMeant);
  const steps = ['pod', namespace, name ?? pod.name, ...below.slice(2)];
  return { steps, uid: name === undefined ? uid : undefined };
}

/** Maximum number of locations whose actor is remembered. */
const MOST_PLACES = 100;

/** Remembers which actor was shown at a location, because a name may later belong to another actor or to none. */
class Shown {
  readonly #at = new Map<string, LastSeen>();

  at(place: Place): LastSeen | undefined {
    return this.#at.get(keyOf(place));
  }

  note(place: Place, seen: LastSeen): void {
    this.#at.delete(keyOf(place));
    this.#at.set(keyOf(place), seen);
    const [oldest] = this.#at.keys();
    if (this.#at.size > MOST_PLACES && oldest !== undefined) this.#at.delete(oldest);
  }
}

const keyOf = ({ steps, uid = '' }: Place): string => JSON.stringify([steps, uid]);

/**
 * Updates `selected` and `lastSeen` from the location until the returned function is called. The actor shown at a
 * location stays selected even if another one gets its name or it no longer exists. A location without steps selects
 * the actor returned by `worst` once.
 */
export function followSelection(page: Page, worst: (world: World) => string | undefined): () => void {
  const shown = new Shown();
  let before = page.selected.peek();
  return effect(() => {
    const world = page.world.value;
    const place = page.place.value;
    const chosen = page.selected.peek();
    const last = chosen === before ? shown.at(place) : undefined;
    const kept = chosen === before ? last?.actor.path : chosen;
    const isThere = kept !== undefined && world.actors.has(kept);
    const named = place.steps.length > 0 ? pathAt(world, place) : kept === undefined ? worst(world) : undefined;
    const selected = isThere ? kept : (named ?? kept);
    before = selected;
    batch(() => {
      page.selected.value = selected;
      const actor = selected === undefined ? undefined : world.actors.get(selected);
      const pod = actor && podOf(world, actor.path);
      const seen = actor ? { actor, at: world.at, ...(pod ? { pod } : {}) } : last;
      if (seen === undefined) return;
      page.lastSeen.value = seen;
      shown.note(place, seen);
      if (actor && place.steps.length > 0) nameAgain(page, world, place, actor.path);
    });
  });
}

/** Updates the location if its steps no longer identify the selected actor uniquely. */
function nameAgain(page: Page, world: World, place: Place, path: string): void {
  const { steps, uid } = stepsOf(world, path);
  const isNamed = pathAt(world, place) === path && (uid === undefined || uid === place.uid);
  if (!isNamed) go(page, { steps, uid }, 'replace');
}
