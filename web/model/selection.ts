/** Which actor a place names, and which place names an actor. */

import { batch, effect } from '@preact/signals';
import { nearest } from '../../base/nearest.ts';
import type { ShownPod } from '../../inspect/protocol.ts';
import { withoutNode } from '../../kubernetes/shownName.ts';
import { podUidOf } from '../../show/actorPath.ts';
import { go } from './go.ts';
import type { LastSeen, Page } from './page.ts';
import type { Place } from './place.ts';
import type { World } from './world.ts';

/** A pod's name without the node that a static pod's is given. */
export const podName = ({ name, isStatic }: ShownPod, { node }: World): string =>
  isStatic ? withoutNode(name, node.name) : name;

/** The pod that an actor belongs to. */
export const podOf = (world: World, path: string): ShownPod | undefined => {
  const uid = podUidOf(path);
  return uid === undefined ? undefined : world.pods.get(uid);
};

/** The pods of a name: by its full one, else by that in its manifest. */
function podsCalled(world: World, namespace: string, name: string): ShownPod[] {
  const pods = [...world.pods.values()].filter((pod) => pod.namespace === namespace);
  const exact = pods.filter((pod) => pod.name === name);
  return exact.length > 0 ? exact : pods.filter((pod) => podName(pod, world) === name);
}

/** Of several pods of a name that of the uid, else the last one made. */
function podCalled(world: World, namespace: string, name: string, uid?: string): ShownPod | undefined {
  const called = podsCalled(world, namespace, name);
  return called.find((pod) => pod.uid === uid) ?? called.at(-1);
}

/** The path of the actor that a place names; undefined where there is none now. Of no steps: nothing is named. */
export function pathAt(world: World, { steps, uid }: Pick<Place, 'steps' | 'uid'>): string | undefined {
  const [kind, ...others] = steps;
  if (kind === 'node') return known(world, others.join('/'));
  const [namespace, name, ...below] = others;
  if (kind !== 'pod' || namespace === undefined || name === undefined) return undefined;
  const pod = podCalled(world, namespace, name, uid);
  return pod && known(world, ['pod', pod.uid, ...below].join('/'));
}

/**
 * Returns the path of the actor that was most likely meant by a place that names none, step by step: the pod of the nearest
 * name, then the nearest of its actors. Where a step has no near match, the actor above it is returned. Undefined if not even
 * the pod, or the actor of the node, has one.
 */
export function nearestPath(world: World, { steps }: Pick<Place, 'steps'>): string | undefined {
  const [kind, ...others] = steps;
  if (kind === 'node') return nearestBelow(world, '', others);
  const [namespace = '', name = '', ...below] = others;
  const pod = nearestPod(world, namespace, name);
  return pod && (nearestBelow(world, `pod/${pod.uid}`, below) ?? known(world, `pod/${pod.uid}`));
}

/** Looks in the namespace that was most likely meant, then in all others. */
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

/** Follows the actors below one for as long as the next step has a near match. */
function nearestBelow(world: World, above: string, steps: readonly string[]): string | undefined {
  let path: string | undefined;
  let from = above;
  const left = [...steps];
  while (left.length > 0) {
    const children: readonly string[] = world.children.get(from) ?? [];
    const ids = new Map(
      children.map((child): [string, string] => [child.slice(from === '' ? 0 : from.length + 1), child]),
    );
    // An id is one word, or a kind and a name.
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

/** The steps that name an actor, with its pod's uid where a name is that of several. */
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

/** Of so many places it is known who was shown there. */
const MOST_PLACES = 100;

/** Who was shown where: a name may come to be that of another, and of nobody. */
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
 * Keeps `selected` and `lastSeen` to what the place names, until the function that it returns is called. Who was shown at a
 * place stays so, whoever else gets the name, and when it is gone. A place without a path: the actor that `worst` finds, once.
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

/** Where a place's words have come to name others, too, it gets those that name the one that is shown. */
function nameAgain(page: Page, world: World, place: Place, path: string): void {
  const { steps, uid } = stepsOf(world, path);
  const isNamed = pathAt(world, place) === path && (uid === undefined || uid === place.uid);
  if (!isNamed) go(page, { steps, uid }, 'replace');
}
