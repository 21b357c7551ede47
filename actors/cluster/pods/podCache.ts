/** What the API server has of the node's pods, as far as the node has heard: what it says of them is for these. */
import type { KubeObject, ReflectorStep } from '../../../kubeclient/reflector.ts';
import type { PodIdentity } from '../../../kubernetes/lifecycle/observed.ts';
import type { ObservedMirror } from '../../../kubernetes/mirror.ts';
import { ToldStatuses } from './toldStatuses.ts';

/** So many of those that are gone are remembered: others are asked for once more than needed. */
const REMEMBERED = 1_000;

export class PodCache {
  readonly told = new ToldStatuses();
  /** By UID; absent until the server has told all. */
  #objects: Map<string, KubeObject> | undefined;
  /** By namespace and name. */
  #mirrors: ReadonlyMap<string, ObservedMirror> = new Map();
  #isFollowed = false;
  /** Those that the server had, and has no more; the last stand last. */
  readonly #left = new Set<string>();

  /** All pods of the node that the server has, and which of them are mirrors of static ones. */
  take(objects: readonly KubeObject[], mirrors: readonly ObservedMirror[]): void {
    this.#objects ??= new Map();
    for (const object of objects) {
      this.#objects.set(object.metadata.uid, object);
      this.#left.delete(object.metadata.uid);
    }
    if (this.#objects.size > objects.length) this.#leave(this.#objects, objects);
    this.#mirrors = new Map(mirrors.map((mirror) => [nameOf(mirror), mirror]));
  }

  #leave(known: Map<string, KubeObject>, objects: readonly KubeObject[]): void {
    const now = new Set(objects.map(({ metadata: { uid } }) => uid));
    for (const uid of known.keys()) {
      if (now.has(uid)) continue;
      known.delete(uid);
      this.#left.add(uid);
    }
    for (const uid of this.#left) {
      if (this.#left.size <= REMEMBERED) break;
      this.#left.delete(uid);
    }
  }

  /** Whether the server is heard of now. */
  step({ state }: ReflectorStep): void {
    this.#isFollowed = state === 'watching';
  }

  /** Whether the server has told all its pods, and this is none of them. */
  isGone(pod: PodIdentity): boolean {
    return this.#objects !== undefined && !this.has(pod);
  }

  /** Whether the server had this pod, and has it no more: no list that is late says so. */
  hasLeft(uid: string): boolean {
    return this.#left.has(uid);
  }

  /** Whether the server has it, as far as was heard. */
  has(pod: PodIdentity): boolean {
    return this.#objects?.has(pod.uid) === true || this.isMirrored(pod);
  }

  /** Whether the server has a mirror of this static pod. */
  isMirrored(pod: PodIdentity): boolean {
    return this.#mirrorOf(pod) !== undefined;
  }

  /** What the server has of a pod, or of a static pod's mirror; undefined where that is not certain now. */
  lastSeen(pod: PodIdentity): unknown {
    if (!this.#isFollowed) return undefined;
    const uid = this.#objects?.has(pod.uid) ? pod.uid : (this.#mirrorOf(pod)?.uid ?? pod.uid);
    return this.told.lastAnswer(uid, this.#objects?.get(uid));
  }

  /** What somebody has marked as the mirror of another pod is none. */
  #mirrorOf(pod: PodIdentity): ObservedMirror | undefined {
    const mirror = this.#mirrors.get(nameOf(pod));
    return mirror?.hash === pod.uid ? mirror : undefined;
  }
}

const nameOf = ({ namespace, name }: Omit<PodIdentity, 'uid'>): string => `${namespace}/${name}`;
