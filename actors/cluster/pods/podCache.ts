/** Caches the API server's view of the node's pods for status updates. */
import type { KubeObject, ReflectorState } from '../../../kubeclient/reflector.ts';
import type { PodIdentity } from '../../../kubernetes/lifecycle/observed.ts';
import type { ObservedMirror } from '../../../kubernetes/mirror.ts';
import { StatusResponses } from './statusResponses.ts';

/**
 * Maximum number of remembered UIDs of removed pods. Checking a pod whose UID has been dropped costs an additional
 * request.
 */
const MAX_REMOVED_UIDS = 1_000;

export class PodCache {
  readonly statusResponses = new StatusResponses();
  /** Keyed by UID. Undefined until the first list. */
  #objects: Map<string, KubeObject> | undefined;
  /** Keyed by namespace and name. */
  #mirrorsByName: ReadonlyMap<string, ObservedMirror> = new Map();
  #isWatching = false;
  /** UIDs of pods that the server has removed, oldest first. */
  readonly #removedUids = new Set<string>();

  /** Replaces all cached pods and mirror pods of the node. */
  replaceAll(objects: readonly KubeObject[], mirrors: readonly ObservedMirror[]): void {
    this.#objects ??= new Map();
    for (const object of objects) {
      this.#objects.set(object.metadata.uid, object);
      this.#removedUids.delete(object.metadata.uid);
    }
    if (this.#objects.size > objects.length) this.#recordRemovedPods(this.#objects, objects);
    this.#mirrorsByName = new Map(mirrors.map((mirror) => [qualifiedName(mirror), mirror]));
  }

  #recordRemovedPods(stored: Map<string, KubeObject>, objects: readonly KubeObject[]): void {
    const currentUids = new Set(objects.map(({ metadata: { uid } }) => uid));
    for (const uid of stored.keys()) {
      if (currentUids.has(uid)) continue;
      stored.delete(uid);
      this.#removedUids.add(uid);
    }
    for (const uid of this.#removedUids) {
      if (this.#removedUids.size <= MAX_REMOVED_UIDS) break;
      this.#removedUids.delete(uid);
    }
  }

  /** Tracks whether the watch is connected. */
  updateState({ state }: ReflectorState): void {
    this.#isWatching = state === 'watching';
  }

  /** Whether the server has sent a list that does not include this pod. */
  isGone(pod: PodIdentity): boolean {
    return this.#objects !== undefined && !this.has(pod);
  }

  /**
   * Whether the server had this pod and has removed it. Unlike `isGone`, never returns true because of an outdated
   * list.
   */
  wasRemoved(uid: string): boolean {
    return this.#removedUids.has(uid);
  }

  /** Returns the pod as the server last reported it. Undefined if the server does not have it. */
  find(uid: string): KubeObject | undefined {
    return this.#objects?.get(uid);
  }

  /** Whether the server has the pod according to the watch. */
  has(pod: PodIdentity): boolean {
    return this.#objects?.has(pod.uid) === true || this.isMirrored(pod);
  }

  /** Whether the server has a mirror of this static pod. */
  isMirrored(pod: PodIdentity): boolean {
    return this.#findMirror(pod) !== undefined;
  }

  /**
   * Returns the latest known version of a pod or of a static pod's mirror. Returns undefined while the watch is
   * disconnected.
   */
  latestVersion(pod: PodIdentity): unknown {
    if (!this.#isWatching) return undefined;
    const uid = this.#objects?.has(pod.uid) ? pod.uid : (this.#findMirror(pod)?.uid ?? pod.uid);
    return this.statusResponses.latestVersion(uid, this.#objects?.get(uid));
  }

  /** Returns the pod's mirror pod, unless the annotation of the mirror pod refers to a different static pod. */
  #findMirror(pod: PodIdentity): ObservedMirror | undefined {
    const mirror = this.#mirrorsByName.get(qualifiedName(pod));
    return mirror?.hash === pod.uid ? mirror : undefined;
  }
}

const qualifiedName = ({ namespace, name }: Omit<PodIdentity, 'uid'>): string => `${namespace}/${name}`;
