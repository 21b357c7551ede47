/** What the API server has of the node's pods, as far as the node has heard: what it says of them is for these. */
import type { KubeObject } from '../../kube/reflector.ts';
import type { SeenMirror } from '../../pod/mirror.ts';
import { ToldStatuses } from './toldStatuses.ts';

/** So many of those that are gone are remembered: others are asked for once more than needed. */
const REMEMBERED = 1_000;

export class PodCache {
  readonly told = new ToldStatuses();
  #uids: ReadonlySet<string> | undefined;
  #mirrored: ReadonlySet<string> = new Set();
  /** Those that the server had, and has no more; the last stand last. */
  readonly #left = new Set<string>();

  /** All pods of the node that the server has, and which of them are mirrors of static ones. */
  take(objects: readonly KubeObject[], mirrors: readonly SeenMirror[]): void {
    const uids = new Set(objects.map(({ metadata: { uid = '' } }) => uid));
    for (const uid of this.#uids ?? []) if (!uids.has(uid)) this.#left.add(uid);
    for (const uid of this.#left) if (uids.has(uid) || this.#left.size > REMEMBERED) this.#left.delete(uid);
    this.#uids = uids;
    this.#mirrored = new Set(mirrors.map(({ hash }) => hash));
  }

  /** Whether the server has told all its pods, and this is none of them. */
  isGone(uid: string): boolean {
    return this.#uids !== undefined && !this.#uids.has(uid) && !this.#mirrored.has(uid);
  }

  /** Whether the server had this pod, and has it no more: no list that is late says so. */
  hasLeft(uid: string): boolean {
    return this.#left.has(uid);
  }

  /** Whether the server has a mirror of the static pod with this UID. */
  isMirrored(uid: string): boolean {
    return this.#mirrored.has(uid);
  }
}
