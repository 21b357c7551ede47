/**
 * Types of a resource usage sample, which covers the node, its pods and their containers. Samples are taken from
 * cgroups and the runtime.
 */
import type { CgroupUsage } from '../host/cgroup/usage/cgroupUsage.ts';
import type { InterfaceUsage } from '../host/usage/netDev.ts';
import type { RuntimeUsage } from './pods/criUsage.ts';
import type { RunningContainer, RunningPod } from './pods/runtimeLists.ts';

/**
 * Scope of a sample. cAdvisor's metrics and the full summary need `everything`. The other scopes are cheaper.
 * `workingSets` and `processes` are only for ranking pods and contain no CPU rates.
 */
export type SampleKind = 'everything' | 'cpuAndMemory' | 'workingSets' | 'processes';

export interface CgroupSample {
  /** Path below the root of the hierarchies, e.g. `/kubepods/burstable/pod<uid>`. */
  readonly path: string;
  readonly usage: CgroupUsage;
  /**
   * CPU rate in nanocores, measured since the previous sample or since the creation of the cgroup. Undefined if there
   * is no recent previous sample.
   */
  readonly nanoCores?: number | undefined;
}

export interface ContainerSample extends RunningContainer {
  /** Sample of the container's cgroup. Undefined if this process cannot see the cgroup. */
  readonly cgroup?: CgroupSample | undefined;
  /** The runtime's statistics, if the container has no cgroup. */
  readonly runtime?: RuntimeUsage | undefined;
}

export interface PodSample extends RunningPod {
  readonly cgroup?: CgroupSample | undefined;
  readonly sandboxCgroup?: CgroupSample | undefined;
  /** The runtime's statistics, if the pod has no cgroup. */
  readonly runtime?: RuntimeUsage | undefined;
  /** The pod's network interfaces. With hostNetwork, these are the host's. */
  readonly network?: NetworkSample | undefined;
  /** The running containers. */
  readonly containers: readonly ContainerSample[];
}

export interface NetworkSample {
  /** Milliseconds since the epoch. */
  readonly readAt: number;
  readonly interfaces: readonly InterfaceUsage[];
}

export interface NodeSample {
  readonly kind: SampleKind;
  /** Start of the sample, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Whether there is a recent previous sample from which rates can be computed. */
  readonly hasRates: boolean;
  readonly root?: CgroupSample | undefined;
  /** The cgroup of all pods. */
  readonly allPods?: CgroupSample | undefined;
  /** The cgroups of the QoS classes. */
  readonly qosCgroups: readonly CgroupSample[];
  readonly agent?: CgroupSample | undefined;
  readonly network?: NetworkSample | undefined;
  readonly pods: readonly PodSample[];
  /**
   * Error of the runtime if it failed to list its containers. The sample then contains the previously listed pods whose
   * cgroups still exist.
   */
  readonly failure?: unknown;
}
