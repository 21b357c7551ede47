/** Tracks the idle time of cgroups that have the names of our pods but were not created by this agent. */

import type { Clock } from '../../../base/time/clock.ts';
import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import type { Cgroups } from '../../../host/cgroup/cgroups.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { Ownership } from '../../store/ownership.ts';
import { listPodSandboxes } from '../sandboxes/listPodSandboxes.ts';
import { isOwnCgroup, type PodWithSandboxes } from './ownCgroup.ts';

/**
 * Time for which a cgroup must be unused before it is taken over. It is long, because another agent may mount volumes
 * before it starts anything in a cgroup that it has created. The kubelet waits 123 s for the volumes and then retries
 * (`podAttachAndMountTimeout` in pkg/kubelet/volumemanager/volume_manager.go).
 */
const MIN_UNUSED_MS = 300_000;

interface UnusedCgroupsDependencies {
  readonly cri: Pick<Cri, 'listPodSandbox'>;
  readonly ownership: Pick<Ownership, 'owns' | 'hasCgroupAlone'>;
  readonly cgroups?: Pick<Cgroups, 'has' | 'isPopulated'> | undefined;
  readonly clock: Pick<Clock, 'monotonic'>;
}

export class UnusedCgroups {
  readonly #dependencies: UnusedCgroupsDependencies;
  /** Monotonic time in milliseconds at which each cgroup was first observed to be unused, keyed by pod UID. */
  readonly #unusedSinceByUid = new Map<string, number>();

  constructor(dependencies: UnusedCgroupsDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Whether the pod may use the cgroup with its name, i.e. the cgroup does not exist, is ours, or has been unused for
   * long enough. A cgroup that stays unused and has no containers in the runtime is a leftover that another agent
   * failed to remove.
   */
  async mayUse(podWithSandboxes: PodWithSandboxes, options: CallOptions): Promise<boolean> {
    const { ownership, cgroups, clock } = this.#dependencies;
    const { pod } = podWithSandboxes;
    const { uid } = pod.metadata;
    const isUnowned = !cgroups?.has(pod) || (await isOwnCgroup(ownership, podWithSandboxes));
    if (isUnowned || (await this.#isInUse(pod, options))) {
      this.forget(uid);
      return isUnowned;
    }
    const unusedSince = this.#unusedSinceByUid.get(uid) ?? clock.monotonic();
    this.#unusedSinceByUid.set(uid, unusedSince);
    return clock.monotonic() - unusedSince >= MIN_UNUSED_MS;
  }

  /** Must be called when the pod no longer waits for the cgroup. */
  forget(uid: string): void {
    this.#unusedSinceByUid.delete(uid);
  }

  async #isInUse(pod: Pod, options: CallOptions): Promise<boolean> {
    const { cri, cgroups } = this.#dependencies;
    if (await cgroups?.isPopulated(pod)) return true;
    try {
      return (await listPodSandboxes(cri, pod.metadata.uid, options)).length > 0;
    } catch (error) {
      // Restart the waiting time, because the cgroup may come into use unnoticed while the runtime does not respond.
      this.forget(pod.metadata.uid);
      throw error;
    }
  }
}
