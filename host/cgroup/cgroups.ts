import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { CgroupSetUp } from '../../kubernetes/resources/cgroup.ts';

/**
 * What a node does with its pods' cgroups (C25); where the host forbids it, nothing, and never a failure of a pod. Each
 * call does one thing: when something is tried again is up to who calls.
 */
export interface Cgroups {
  /**
   * Makes what is above the pods' cgroups with its limits, and makes up for what pods lack; as long as pods of somebody
   * else are there nothing that they share is changed. Fails with `FailedNodeAllocatableEnforcement`. Idempotent.
   */
  setUp(): Promise<CgroupSetUp>;
  /** Makes a pod's cgroup with its limits; one that is there stays as it is. */
  prepare(pod: Pod): Promise<void>;
  /** Lets a pod's cgroup have at least what the pod may use: before its containers grow. */
  raise(pod: Pod): Promise<void>;
  /** Lets a pod's cgroup have exactly what the pod may use: after its containers have shrunk. */
  trim(pod: Pod): Promise<void>;
  /** Whether anybody has made it. */
  has(pod: Pod): boolean;
  /** Whether anything runs in one of its name, be it made for another class. */
  isPopulated(pod: Pod): Promise<boolean>;
  /** Whether something of another agent may be in it: anything runs there, or there are more of its name than were made here. */
  mayBeShared(pod: Pod): Promise<boolean>;
  /** Kills what is left in it, whatever the runtime knows of that. */
  kill(pod: Pod, signal: AbortSignal): Promise<void>;
  /** Kills what is left in it, and removes it, unless the host forbids that; the pod no longer counts in its class. */
  remove(pod: Pod, signal: AbortSignal): Promise<void>;
  /** The pod of this UID no longer counts in its class, and limits that it lacks are not retried; what is there stays. */
  forget(uid: string): Promise<void>;
}
