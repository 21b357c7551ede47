/** The latest statuses that the current agent has published. */
import type { PodChange } from '../../../actors/status/statusBoard.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';

export class ToldPods {
  readonly #told = new Map<string, Pod>();

  note({ uid, pod, removed }: PodChange): void {
    if (removed) this.#told.delete(uid);
    else this.#told.set(uid, pod);
  }

  readonly of = (uid: string): Pod | undefined => this.#told.get(uid);

  clear(): void {
    this.#told.clear();
  }
}
