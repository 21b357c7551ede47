import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { CgroupSetup } from '../../kubernetes/resources/cgroup.ts';
import type { ResizableResource } from '../../kubernetes/resources/resize.ts';

/**
 * The cgroups of a node's pods (C25). If the host forbids changes, the calls do nothing and pods do not fail. Retries
 * are up to the caller.
 */
export interface Cgroups {
  /**
   * Creates the parent cgroups of the pods' cgroups and sets their limits. Also retries setting pod limits that could
   * not be set before. While pods of other agents are in the tree, shared cgroups are not changed. On failure, rejects
   * with `FailedNodeAllocatableEnforcement`. Idempotent.
   */
  setUp(): Promise<CgroupSetup>;
  /** Creates the cgroup of a pod with its limits. An existing one is not changed. */
  prepare(pod: Pod): Promise<void>;
  /**
   * Raises the limits of a pod's cgroup for one resource to at least those of the pod. Must be called before the limits
   * of containers are raised.
   */
  raise(pod: Pod, resource: ResizableResource): Promise<void>;
  /**
   * Sets the limits of a pod's cgroup for one resource to exactly those of the pod. Must be called after the limits of
   * containers have been lowered.
   */
  trim(pod: Pod, resource: ResizableResource): Promise<void>;
  /** Whether the pod's cgroup exists, regardless of which agent created it. */
  has(pod: Pod): boolean;
  /** Whether any process is in a cgroup with the pod's name, in any QoS class. */
  isPopulated(pod: Pod): Promise<boolean>;
  /**
   * Whether the pod's cgroup may contain processes of another agent, because it is populated or because more cgroups
   * with its name exist than this agent created.
   */
  mayBeShared(pod: Pod): Promise<boolean>;
  /** Kills all processes in the pod's cgroup, including processes of which the runtime has no record. */
  kill(pod: Pod, signal: AbortSignal): Promise<void>;
  /**
   * Kills all processes in the pod's cgroup and removes the cgroup, unless the host forbids this. Afterwards the pod no
   * longer counts toward the CPU shares of its QoS class.
   */
  remove(pod: Pod, signal: AbortSignal): Promise<void>;
  /**
   * Stops counting a pod toward the CPU shares of its QoS class, and stops retrying to set its missing limits. Existing
   * cgroups are not changed.
   */
  forget(uid: string): Promise<void>;
}
