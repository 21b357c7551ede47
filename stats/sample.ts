/** What the node, its pods and their containers used at one moment, as cgroups and the runtime say. */
import type { CgroupUsage } from '../host/cgroup/usage/cgroupUsage.ts';
import type { InterfaceUsage } from '../host/usage/netDev.ts';
import type { RuntimeUsage } from './criUsage.ts';
import type { RunningContainer, RunningPod } from './runtimeLists.ts';

/** What is asked for: what cAdvisor's metrics and the summary need, or only what costs least. */
export type SampleKind = 'everything' | 'cpuAndMemory';

export interface CgroupSample {
  /** Below the root of the hierarchies, as `/kubepods/burstable/pod<uid>`. */
  readonly path: string;
  readonly usage: CgroupUsage;
  /** Billionths of a core since the sample before, or since it was made; absent where there was none lately. */
  readonly nanoCores?: number | undefined;
}

export interface ContainerSample extends RunningContainer {
  /** Absent: it has none that this process sees. */
  readonly cgroup?: CgroupSample | undefined;
  /** What the runtime says of it, where it has no cgroup. */
  readonly runtime?: RuntimeUsage | undefined;
}

export interface PodSample extends RunningPod {
  readonly cgroup?: CgroupSample | undefined;
  readonly sandboxCgroup?: CgroupSample | undefined;
  /** What the runtime says of the pod, where it has no cgroup. */
  readonly runtime?: RuntimeUsage | undefined;
  /** Its network's interfaces; under hostNetwork those of the host. */
  readonly network?: NetworkSample | undefined;
  /** Those that run. */
  readonly containers: readonly ContainerSample[];
}

export interface NetworkSample {
  /** Milliseconds since the epoch. */
  readonly readAt: number;
  readonly interfaces: readonly InterfaceUsage[];
}

export interface NodeSample {
  readonly kind: SampleKind;
  /** When it was begun, in milliseconds since the epoch. */
  readonly takenAt: number;
  /** Whether there was another lately, so that it says how much of a core is used. */
  readonly hasRates: boolean;
  /** The root of all cgroups. */
  readonly root?: CgroupSample | undefined;
  /** That of all pods, and those of the QoS classes that have one. */
  readonly allPods?: CgroupSample | undefined;
  readonly tiers: readonly CgroupSample[];
  /** The cgroup of the agent itself. */
  readonly agent?: CgroupSample | undefined;
  readonly network?: NetworkSample | undefined;
  readonly pods: readonly PodSample[];
  /** Why the runtime has not said what runs: the pods are those of before, as far as cgroups still know them. */
  readonly failure?: unknown;
}
