import type { PodChange } from '../../actors/status/statusBoard.ts';
import type { RuntimeEffect, SimulatedContainer } from '../../cri/simulated/views.ts';
import { OF_ITS_MANIFEST } from '../deeds.ts';
import { fullName } from '../host.ts';
import type { OutsideCall } from '../outside.ts';
import type { Invariant, Watched } from './invariant.ts';

/** A container that runs. */
interface Known {
  readonly id: string;
  readonly pod: string;
  readonly uid: string;
  /** Whoever touched the pod since then may be why it ends. */
  readonly since: number;
}

/** Since when each pod is at the runtime, by its UID, and each start was asked for. */
class Presence {
  readonly #since = new Map<string, number>();
  readonly #sandboxes = new Map<string, Set<string>>();
  readonly #asked = new Map<string, number>();

  noteCall({ room, name, about }: OutsideCall, at: number): void {
    if (room === 'runtime' && name === 'startContainer') this.#asked.set(about, at);
  }

  note({ kind, sandbox: { id, podUid }, container }: RuntimeEffect, at: number): void {
    if (container !== undefined) {
      if (kind === 'removed') this.#asked.delete(container.id);
      return;
    }
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

  /** A container may start late, and one of a pod that has another manifest by now. */
  sinceOf({ id, podUid }: SimulatedContainer): number | undefined {
    return (OF_ITS_MANIFEST.test(podUid) ? this.#since.get(podUid) : undefined) ?? this.#asked.get(id);
  }
}

/** The pods that are ended to make room for others, by their UIDs. */
function preemptions(watched: Watched) {
  const uids = new Set<string>();
  return {
    noteCall: ({ name, about }: OutsideCall) => {
      const uid = name === 'stopContainer' ? watched.host.container(about)?.podUid : undefined;
      if (uid && watched.agent?.trees().get(uid)?.termination?.reason === 'Preempting') uids.add(uid);
    },
    forget: ({ uid, removed }: PodChange) => {
      if (removed) uids.delete(uid);
    },
    has: (uid: string) => uids.has(uid),
  };
}

export const untouched: Invariant = {
  number: 4,
  says: 'What ran and was not touched goes on in the same container, whatever becomes of the agent, the sources or the store.',
  follow: (watched, violated) => {
    const { host, deeds } = watched;
    const known = new Map<string, Known>();
    /** Those that have ended in this step: who touched them may say so after it. */
    const ended = new Map<string, Known>();
    const [pods, preempted] = [new Presence(), preemptions(watched)];
    const onEffect = (effect: RuntimeEffect) => {
      const { kind, container } = effect;
      const { elapsed } = host.clock;
      pods.note(effect, elapsed);
      if (container === undefined) return;
      const pod = fullName(container);
      const name = `${pod} ${container.containerName}`;
      const before = known.get(name);
      if (kind === 'started') {
        known.set(name, { id: container.id, pod, uid: container.podUid, since: pods.sinceOf(container) ?? elapsed });
      } else if (before?.id === container.id) {
        known.delete(name);
        ended.set(name, before);
      }
    };
    const afterStep = () => {
      for (const [name, { pod, uid, since }] of ended) {
        // A pod that another has taken the place of ends whenever its agent hears of that, in whichever run it is then.
        const isWanted = deeds.mayBeWanted(pod, uid) && !preempted.has(uid);
        if (isWanted && !deeds.isTouchedSince(pod, since)) violated(`${name} was ended, and nothing had touched it`);
      }
      ended.clear();
    };
    const onCall = (call: OutsideCall) => {
      pods.noteCall(call, host.clock.elapsed);
      preempted.noteCall(call);
    };
    return { onEffect, onStatus: preempted.forget, onCall, afterStep };
  },
};
