/** Converts between an actor's path and the location that selects the actor. */

import { batch, effect } from '@preact/signals';
import { closestWord } from '../../../base/text/closestWord.ts';
import type { ShownPod } from '../../../inspect/protocol.ts';
import { withoutNodeSuffix } from '../../../kubernetes/shownName.ts';
import { podUidOf } from '../../../show/actors/actorPath.ts';
import type { LastKnownActor, Page } from '../page.ts';
import type { World } from '../server/world.ts';
import { navigate } from './navigate.ts';
import type { PageLocation } from './pageLocation.ts';

/** Returns the name of a pod. Omits the suffix with the node's name from the name of a static pod. */
export const podName = ({ name, isStatic }: ShownPod, { node }: World): string =>
  isStatic ? withoutNodeSuffix(name, node.name) : name;

/** Returns the pod to which an actor belongs. */
export const podOf = (world: World, path: string): ShownPod | undefined => {
  const uid = podUidOf(path);
  return uid === undefined ? undefined : world.pods.get(uid);
};

/**
 * Returns the pods with the given full name. If there are none, returns the static pods whose manifests contain this
 * name.
 */
function findPodsByName(world: World, namespace: string, name: string): ShownPod[] {
  const pods = [...world.pods.values()].filter((pod) => pod.namespace === namespace);
  const exactMatches = pods.filter((pod) => pod.name === name);
  return exactMatches.length > 0 ? exactMatches : pods.filter((pod) => podName(pod, world) === name);
}

/**
 * Returns the pod with the given name. If several pods have the name, returns the pod with the given UID or, if there
 * is none, the latest pod.
 */
function findPodByName(world: World, namespace: string, name: string, uid?: string): ShownPod | undefined {
  const candidates = findPodsByName(world, namespace, name);
  return candidates.find((pod) => pod.uid === uid) ?? candidates.at(-1);
}

/**
 * Returns the path of the actor that a location selects. Undefined if that actor does not exist or the location selects
 * none.
 */
export function pathAt(world: World, { steps, uid }: Pick<PageLocation, 'steps' | 'uid'>): string | undefined {
  const [kind, ...others] = steps;
  if (kind === 'node') return existingPath(world, others.join('/'));
  const [namespace, name, ...below] = others;
  if (kind !== 'pod' || namespace === undefined || name === undefined) return undefined;
  const pod = findPodByName(world, namespace, name, uid);
  return pod && existingPath(world, ['pod', pod.uid, ...below].join('/'));
}

/**
 * Returns the path of the actor that a location with an unknown name most likely means. Matches one step at a time,
 * i.e. first the most similar pod name, then the most similar actor name within that pod. If a step has no similar
 * match, returns the parent. Undefined if the first step has no similar match.
 */
export function nearestPath(world: World, { steps }: Pick<PageLocation, 'steps'>): string | undefined {
  const [kind, ...others] = steps;
  if (kind === 'node') return findNearestDescendant(world, '', others);
  const [namespace = '', name = '', ...below] = others;
  const pod = nearestPod(world, namespace, name);
  return pod && (findNearestDescendant(world, `pod/${pod.uid}`, below) ?? existingPath(world, `pod/${pod.uid}`));
}

/**
 * Returns the pod with the most similar name. Searches the namespace with the most similar name first, then all
 * namespaces.
 */
function nearestPod(world: World, namespace: string, name: string): ShownPod | undefined {
  const pods = [...world.pods.values()];
  const likelyNamespace = closestWord(namespace, new Set(pods.map((pod) => pod.namespace)));
  for (const candidates of [pods.filter((pod) => pod.namespace === likelyNamespace), pods]) {
    const match = closestWord(name, new Set(candidates.flatMap((pod) => [podName(pod, world), pod.name])));
    const pod = candidates.find((each) => podName(each, world) === match || each.name === match);
    if (pod) return pod;
  }
  return undefined;
}

/** Descends from an actor as long as there is a child whose name is similar to the next step. */
function findNearestDescendant(world: World, ancestorPath: string, steps: readonly string[]): string | undefined {
  let path: string | undefined;
  let from = ancestorPath;
  const remainingSteps = [...steps];
  while (remainingSteps.length > 0) {
    const children: readonly string[] = world.children.get(from) ?? [];
    const ids = new Map(
      children.map((child): [string, string] => [child.slice(from === '' ? 0 : from.length + 1), child]),
    );
    // Try a pair of steps first, because an actor's id consists of either a kind and a name or a single word.
    const match = [2, 1].flatMap((length) => {
      const id =
        remainingSteps.length < length ? undefined : closestWord(remainingSteps.slice(0, length).join('/'), ids.keys());
      return id === undefined || id.split('/').length !== length ? [] : [{ path: ids.get(id), length }];
    })[0];
    if (match?.path === undefined) return path;
    path = match.path;
    from = match.path;
    remainingSteps.splice(0, match.length);
  }
  return path;
}

const existingPath = (world: World, path: string): string | undefined => (world.actors.has(path) ? path : undefined);

/** Returns the steps that select an actor. Includes the UID if several pods have the same name. */
export function locationSteps(
  world: World,
  path: string,
): { readonly steps: readonly string[]; readonly uid: string | undefined } {
  const uid = podUidOf(path);
  const segments = path.split('/').filter(Boolean);
  const pod = uid === undefined ? undefined : world.pods.get(uid);
  if (!pod) return { steps: ['node', ...segments], uid: undefined };
  const { namespace } = pod;
  const isUnique = (name: string) => findPodsByName(world, namespace, name).every((each) => each.uid === uid);
  const name = [podName(pod, world), pod.name].find(isUnique);
  const steps = ['pod', namespace, name ?? pod.name, ...segments.slice(2)];
  return { steps, uid: name === undefined ? uid : undefined };
}

/** Maximum number of locations whose actors are remembered. */
const MAX_LOCATIONS = 100;

/** Remembers which actor was selected at a location, because a name may later refer to a different actor or to none. */
class ShownActors {
  readonly #at = new Map<string, LastKnownActor>();

  at(location: PageLocation): LastKnownActor | undefined {
    return this.#at.get(locationKey(location));
  }

  remember(location: PageLocation, actor: LastKnownActor): void {
    this.#at.delete(locationKey(location));
    this.#at.set(locationKey(location), actor);
    const [oldest] = this.#at.keys();
    if (this.#at.size > MAX_LOCATIONS && oldest !== undefined) this.#at.delete(oldest);
  }
}

const locationKey = ({ steps, uid = '' }: PageLocation): string => JSON.stringify([steps, uid]);

/**
 * Updates the selected actor and its last known state whenever the location or the displayed actors change. Returns a
 * function that stops this. The actor at a location remains selected even if it no longer exists or a different actor
 * takes its name. A location without steps selects the actor at `worstPath`, but only once.
 */
export function followSelection(page: Page, worstPath: (world: World) => string | undefined): () => void {
  const shownActors = new ShownActors();
  let previousPath = page.selectedPath.peek();
  return effect(() => {
    const world = page.world.value;
    const location = page.location.value;
    const previousSelection = page.selectedPath.peek();
    const lastShown = previousSelection === previousPath ? shownActors.at(location) : undefined;
    const retainedPath = previousSelection === previousPath ? lastShown?.actor.path : previousSelection;
    const stillExists = retainedPath !== undefined && world.actors.has(retainedPath);
    const namedPath =
      location.steps.length > 0 ? pathAt(world, location) : retainedPath === undefined ? worstPath(world) : undefined;
    const selectedPath = stillExists ? retainedPath : (namedPath ?? retainedPath);
    previousPath = selectedPath;
    batch(() => {
      page.selectedPath.value = selectedPath;
      const actor = selectedPath === undefined ? undefined : world.actors.get(selectedPath);
      const pod = actor && podOf(world, actor.path);
      const lastKnown = actor ? { actor, at: world.at, ...(pod ? { pod } : {}) } : lastShown;
      if (lastKnown === undefined) return;
      page.lastKnown.value = lastKnown;
      shownActors.remember(location, lastKnown);
      if (actor && location.steps.length > 0) updateLocation(page, world, location, actor.path);
    });
  });
}

/** Updates the location if it no longer identifies the selected actor uniquely. */
function updateLocation(page: Page, world: World, location: PageLocation, path: string): void {
  const { steps, uid } = locationSteps(world, path);
  const matchesLocation = pathAt(world, location) === path && (uid === undefined || uid === location.uid);
  if (!matchesLocation) navigate(page, { steps, uid }, 'replace');
}
