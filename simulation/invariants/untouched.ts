import type { RuntimeEffect } from '../../cri/simulated/views.ts';
import { OF_ITS_MANIFEST } from '../deeds.ts';
import { fullName } from '../host.ts';
import type { Invariant } from './invariant.ts';

/** A container that runs. */
interface Known {
  readonly id: string;
  readonly pod: string;
  readonly uid: string;
  /** Whoever touched the pod since then may be why it ends. */
  readonly since: number;
}

/** Since when each pod is at the runtime, by its UID. */
class Presence {
  readonly #since = new Map<string, number>();
  readonly #sandboxes = new Map<string, Set<string>>();

  note({ kind, sandbox: { id, podUid } }: RuntimeEffect, at: number): void {
    const sandboxes = this.#sandboxes.get(podUid) ?? new Set();
    if (kind === 'created') sandboxes.add(id);
    if (kind === 'removed') sandboxes.delete(id);
    if (sandboxes.size === 0) {
      this.#sandboxes.delete(podUid);
      this.#since.delete(podUid);
      return;
    }
    this.#sandboxes.set(podUid, sandboxes);
    if (!this.#since.has(podUid)) this.#since.set(podUid, at);
  }

  since = (uid: string): number | undefined => this.#since.get(uid);
}

export const untouched: Invariant = {
  number: 4,
  says: 'What ran and was not touched goes on in the same container, whatever becomes of the agent, the sources or the store.',
  follow: ({ host, deeds }, violated) => {
    const known = new Map<string, Known>();
    /** Those that have ended in this step: who touched them may say so after it. */
    const ended = new Map<string, Known>();
    const pods = new Presence();
    const onEffect = (effect: RuntimeEffect) => {
      const { kind, container } = effect;
      const { elapsed } = host.clock;
      if (container === undefined) return pods.note(effect, elapsed);
      const pod = fullName(container);
      const name = `${pod} ${container.containerName}`;
      const before = known.get(name);
      if (kind === 'started') {
        // A container may start late, and one of a pod that has another manifest by now.
        const podSince = OF_ITS_MANIFEST.test(container.podUid) ? pods.since(container.podUid) : undefined;
        known.set(name, { id: container.id, pod, uid: container.podUid, since: podSince ?? elapsed });
      } else if (before?.id === container.id) {
        known.delete(name);
        ended.set(name, before);
      }
    };
    const afterStep = () => {
      for (const [name, { pod, uid, since }] of ended) {
        // A pod that another has taken the place of ends whenever its agent hears of that, in whichever run it is then.
        if (deeds.mayBeWanted(pod, uid) && !deeds.isTouchedSince(pod, since))
          violated(`${name} was ended, and nothing had touched it`);
      }
      ended.clear();
    };
    return { onEffect, afterStep };
  },
};
