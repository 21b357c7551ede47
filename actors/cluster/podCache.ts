/** What the API server has of the node's pods, as far as the node has heard: what it says of them is for these. */
import type { KubeObject } from '../../kube/reflector.ts';
import type { SeenMirror } from '../../pod/mirror.ts';
import { ToldStatuses } from './toldStatuses.ts';

/** So many of those that are gone are remembered: others are asked for once more than needed. */
const REMEMBERED = 1_000;

export class PodCache {
  readonly told = new ToldStatuses();
  /** By UID; absent until the server has told all. */
  #objects: ReadonlyMap<string, KubeObject> | undefined;
  /** The mirror of each static pod that has one, by the UID of the static pod. */
  #mirrors: ReadonlyMap<string, SeenMirror> = new Map();
  /** Those that the server had, and has no more; the last stand last. */
  readonly #left = new Set<string>();

  /** All pods of the node that the server has, and which of them are mirrors of static ones. */
  take(objects: readonly KubeObject[], mirrors: readonly SeenMirror[]): void {
    const now = new Map(objects.map((object) => [object.metadata.uid, object]));
    for (const uid of this.#objects?.keys() ?? []) if (!now.has(uid)) this.#left.add(uid);
    for (const uid of this.#left) if (now.has(uid) || this.#left.size > REMEMBERED) this.#left.delete(uid);
    this.#objects = now;
    this.#mirrors = new Map(mirrors.map((mirror) => [mirror.hash, mirror]));
  }

  /** Whether the server has told all its pods, and this is none of them. */
  isGone(uid: string): boolean {
    return this.#objects !== undefined && !this.#objects.has(uid) && !this.#mirrors.has(uid);
  }

  /** Whether the server had this pod, and has it no more: no list that is late says so. */
  hasLeft(uid: string): boolean {
    return this.#left.has(uid);
  }

  /** Whether the server has a mirror of the static pod with this UID. */
  isMirrored(uid: string): boolean {
    return this.#mirrors.has(uid);
  }

  /** What the server had of a pod, or of a static pod's mirror, when it was last heard of; undefined: nothing was. */
  lastSeen(uid: string): unknown {
    const own = this.#mirrors.get(uid)?.uid ?? uid;
    return this.told.lastAnswer(own, this.#objects?.get(own));
  }
}
