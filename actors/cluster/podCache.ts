/** What the API server has of the node's pods, as far as the node has heard: what it says of them is for these. */
import type { KubeObject } from '../../kube/reflector.ts';
import type { SeenMirror } from '../../pod/mirror.ts';

export class PodCache {
  #uids: ReadonlySet<string> | undefined;
  #mirrored: ReadonlySet<string> = new Set();

  /** All pods of the node that the server has, and which of them are mirrors of static ones. */
  take(objects: readonly KubeObject[], mirrors: readonly SeenMirror[]): void {
    this.#uids = new Set(objects.map(({ metadata: { uid = '' } }) => uid));
    this.#mirrored = new Set(mirrors.map(({ hash }) => hash));
  }

  /** Whether the server has told all its pods, and this is none of them. */
  isGone(uid: string): boolean {
    return this.#uids !== undefined && !this.#uids.has(uid) && !this.#mirrored.has(uid);
  }

  /** Whether the server has a mirror of the static pod with this UID. */
  isMirrored(uid: string): boolean {
    return this.#mirrored.has(uid);
  }
}
