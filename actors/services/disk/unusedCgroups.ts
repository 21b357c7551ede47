/** Cgroups of the names of pods that this agent did not make, and in which nobody seems to run anything. */

import type { Clock } from '../../../base/clock.ts';
import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import type { Cgroups } from '../../../host/cgroup/cgroups.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { Ownership } from '../../store/ownership.ts';
import { listPodSandboxes } from '../sandboxes/listPodSandboxes.ts';
import { isOwnCgroup, type RanPod } from './ownCgroup.ts';

/**
 * Another agent may mount the volumes of its pod before anything runs in the cgroup that it has made: a kubelet waits 123 s
 * for them, and tries again (`podAttachAndMountTimeout` in pkg/kubelet/volumemanager/volume_manager.go).
 */
const UNUSED_MS = 300_000;

interface UnusedCgroupsParts {
  readonly cri: Pick<Cri, 'listPodSandbox'>;
  readonly ownership: Pick<Ownership, 'owns' | 'hasCgroupAlone'>;
  readonly cgroups?: Pick<Cgroups, 'has' | 'isPopulated'> | undefined;
  readonly clock: Pick<Clock, 'monotonic'>;
}

export class UnusedCgroups {
  readonly #parts: UnusedCgroupsParts;
  /** Since when each was seen unused, by the UIDs of their pods, in milliseconds that no change of the clock moves. */
  readonly #since = new Map<string, number>();

  constructor(parts: UnusedCgroupsParts) {
    this.#parts = parts;
  }

  /**
   * Whether the pod may have the cgroup of its name: there is none yet, or it is ours, or nobody's. What an agent left
   * that could not remove it stays unused, and the runtime has nothing of its pod.
   */
  async mayHave(ran: RanPod, options: CallOptions): Promise<boolean> {
    const { ownership, cgroups, clock } = this.#parts;
    const { pod } = ran;
    const { uid } = pod.metadata;
    const isFree = !cgroups?.has(pod) || (await isOwnCgroup(ownership, ran));
    if (isFree || (await this.#isUsed(pod, options))) {
      this.forget(uid);
      return isFree;
    }
    const since = this.#since.get(uid) ?? clock.monotonic();
    this.#since.set(uid, since);
    return clock.monotonic() - since >= UNUSED_MS;
  }

  /** The pod does not wait for it any more. */
  forget(uid: string): void {
    this.#since.delete(uid);
  }

  async #isUsed(pod: Pod, options: CallOptions): Promise<boolean> {
    const { cri, cgroups } = this.#parts;
    if (await cgroups?.isPopulated(pod)) return true;
    try {
      return (await listPodSandboxes(cri, pod.metadata.uid, options)).length > 0;
    } catch (error) {
      // Nobody can begin to use it as long as the runtime does not answer.
      this.forget(pod.metadata.uid);
      throw error;
    }
  }
}
