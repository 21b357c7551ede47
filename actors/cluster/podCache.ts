/** What the API server has of the node's pods, as far as the node has heard: what it says of them is for these. */
import type { KubeObject } from '../../kube/reflector.ts';

export class PodCache {
  #uids: ReadonlySet<string> | undefined;

  /** All pods of the node that the server has. */
  take(objects: readonly KubeObject[]): void {
    this.#uids = new Set(objects.map(({ metadata: { uid = '' } }) => uid));
  }

  /** Whether the server has told all its pods, and this is none of them. */
  isGone(uid: string): boolean {
    return this.#uids !== undefined && !this.#uids.has(uid);
  }
}
