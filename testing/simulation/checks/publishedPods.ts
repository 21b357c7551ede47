/** The latest statuses that the current agent has published. */
import type { PodChange } from '../../../actors/status/statusBoard.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';

export class PublishedPods {
  readonly #pods = new Map<string, Pod>();

  note({ uid, pod, removed }: PodChange): void {
    if (removed) this.#pods.delete(uid);
    else this.#pods.set(uid, pod);
  }

  readonly get = (uid: string): Pod | undefined => this.#pods.get(uid);

  clear(): void {
    this.#pods.clear();
  }
}
