/** Which actor a place names, and which place names an actor. */
import { effect } from '@preact/signals';
import type { ShownPod } from '../../inspect/protocol.ts';
import { withoutNode } from '../../pod/show/shownName.ts';
import type { Page } from './page.ts';
import type { Place } from './place.ts';
import type { World } from './world.ts';

/** A pod's name without the node that a static pod's is given. */
export const podName = ({ name, isStatic }: ShownPod, { node }: World): string =>
  isStatic ? withoutNode(name, node.name) : name;

/** The uid of the pod that an actor belongs to; undefined: the node's own. */
export const uidOf = (path: string): string | undefined => /^pod\/([^/]+)/.exec(path)?.[1];

/** The pod that an actor belongs to. */
export const podOf = (world: World, path: string): ShownPod | undefined => {
  const uid = uidOf(path);
  return uid === undefined ? undefined : world.pods.get(uid);
};

/** The pod of a name: by its full one, else by that in its manifest; of several that of the uid, else the last one made. */
function podCalled(world: World, namespace: string, name: string, uid?: string): ShownPod | undefined {
  const pods = [...world.pods.values()].filter((pod) => pod.namespace === namespace);
  const exact = pods.filter((pod) => pod.name === name);
  const called = exact.length > 0 ? exact : pods.filter((pod) => podName(pod, world) === name);
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

const known = (world: World, path: string): string | undefined => (world.actors.has(path) ? path : undefined);

/** The steps that name an actor, with its pod's uid where a name is that of several. */
export function stepsOf(
  world: World,
  path: string,
): { readonly steps: readonly string[]; readonly uid: string | undefined } {
  const uid = uidOf(path);
  const below = path.split('/').filter(Boolean);
  const pod = uid === undefined ? undefined : world.pods.get(uid);
  if (!pod) return { steps: ['node', ...below], uid: undefined };
  const { namespace } = pod;
  const isMeant = (name: string) => podCalled(world, namespace, name)?.uid === uid;
  const name = [podName(pod, world), pod.name].find(isMeant);
  const steps = ['pod', namespace, name ?? pod.name, ...below.slice(2)];
  return { steps, uid: name === undefined ? uid : undefined };
}

/**
 * Keeps `selected` and `lastSeen` to what the place names, until the function that it returns is called. What is gone
 * stays selected. A place that names nothing: the actor that `worst` finds, once; it then stays.
 */
export function followSelection(page: Page, worst: (world: World) => string | undefined): () => void {
  return effect(() => {
    const world = page.world.value;
    const place = page.place.value;
    const path = place.steps.length > 0 ? pathAt(world, place) : page.selected.peek();
    const selected = path ?? (place.steps.length > 0 ? page.selected.peek() : worst(world));
    page.selected.value = selected;
    const actor = selected === undefined ? undefined : world.actors.get(selected);
    if (!actor) return;
    const pod = podOf(world, actor.path);
    page.lastSeen.value = { actor, at: world.at, ...(pod ? { pod } : {}) };
  });
}
