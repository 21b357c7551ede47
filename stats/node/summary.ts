/**
 * The resource usage summary of a node and its pods, with the fields of `pkg/apis/stats/v1alpha1/types.go` in
 * k8s.io/kubelet, in the same order. Undefined fields are omitted. As in Kubernetes, timestamps have a resolution of
 * one second.
 */
import { rfc3339 } from '../../kubernetes/api/values/rfc3339.ts';

/**
 * A timestamp that is serialized as RFC 3339 without fractional seconds. Metrics use its exact value in milliseconds.
 */
export interface StatsTime {
  /** Milliseconds since the epoch. */
  readonly ms: number;
  toJSON(): string;
}

export const statsTime = (ms: number): StatsTime => ({ ms, toJSON: () => rfc3339(ms) });

/** Returns null for an unknown time. */
export const optionalStatsTime = (ms: number | undefined): StatsTime | null =>
  ms === undefined ? null : statsTime(ms);

export interface Summary {
  readonly node: NodeStats;
  readonly pods: readonly PodStats[];
}

export interface NodeStats {
  readonly nodeName: string;
  readonly systemContainers?: readonly ContainerStats[] | undefined;
  /** Start time. Null if unknown, like the zero time of Kubernetes. */
  readonly startTime: StatsTime | null;
  readonly cpu?: CpuStats | undefined;
  readonly memory?: MemoryStats | undefined;
  readonly io?: IoStats | undefined;
  readonly network?: NetworkStats | undefined;
  readonly fs?: FsStats | undefined;
  readonly runtime?: { readonly imageFs?: FsStats | undefined; readonly containerFs?: FsStats | undefined } | undefined;
  readonly rlimit?: RlimitStats | undefined;
  readonly swap?: SwapStats | undefined;
}

export interface PodStats {
  readonly podRef: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly startTime: StatsTime;
  readonly containers: readonly ContainerStats[];
  readonly cpu?: CpuStats | undefined;
  readonly memory?: MemoryStats | undefined;
  readonly io?: IoStats | undefined;
  readonly network?: NetworkStats | undefined;
  readonly volume?: readonly VolumeStats[] | undefined;
  readonly 'ephemeral-storage'?: FsStats | undefined;
  readonly process_stats?: { readonly process_count: number } | undefined;
  readonly swap?: SwapStats | undefined;
}

export interface ContainerStats {
  readonly name: string;
  /** Start time. Null if unknown, like the zero time of Kubernetes. */
  readonly startTime: StatsTime | null;
  readonly cpu?: CpuStats | undefined;
  readonly memory?: MemoryStats | undefined;
  readonly io?: IoStats | undefined;
  readonly rootfs?: FsStats | undefined;
  readonly logs?: FsStats | undefined;
  readonly swap?: SwapStats | undefined;
}

export interface CpuStats {
  readonly time: StatsTime;
  readonly usageNanoCores?: number | undefined;
  readonly usageCoreNanoSeconds?: number | undefined;
  readonly psi?: PsiStats | undefined;
}

export interface MemoryStats {
  readonly time: StatsTime;
  readonly availableBytes?: number | undefined;
  readonly usageBytes?: number | undefined;
  readonly workingSetBytes?: number | undefined;
  readonly rssBytes?: number | undefined;
  readonly pageFaults?: number | undefined;
  readonly majorPageFaults?: number | undefined;
  readonly psi?: PsiStats | undefined;
}

export interface SwapStats {
  readonly time: StatsTime;
  readonly swapAvailableBytes?: number | undefined;
  readonly swapUsageBytes?: number | undefined;
}

export interface IoStats {
  readonly time: StatsTime;
  readonly psi?: PsiStats | undefined;
}

export interface PsiStats {
  readonly full: PsiData;
  readonly some: PsiData;
}

interface PsiData {
  /** Total stall time in microseconds, as in the kernel and the kubelet. */
  readonly total: number;
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
}

export interface InterfaceStats {
  readonly name: string;
  readonly rxBytes?: number | undefined;
  readonly rxErrors?: number | undefined;
  readonly txBytes?: number | undefined;
  readonly txErrors?: number | undefined;
}

/**
 * The statistics of the default interface, together with a list of the statistics of all interfaces. The name is empty
 * if there is no default interface.
 */
export interface NetworkStats extends InterfaceStats {
  readonly time: StatsTime;
  readonly interfaces?: readonly InterfaceStats[] | undefined;
}

/**
 * Name of the default network interface of a pod, as in the kubelet (`defaultNetworkInterfaceName` in
 * `pkg/kubelet/stats/helper.go`).
 */
const DEFAULT_INTERFACE = 'eth0';

export function createNetworkStats(readAt: number, interfaces: readonly InterfaceStats[]): NetworkStats {
  const defaultInterface = interfaces.find(({ name }) => name === DEFAULT_INTERFACE);
  return {
    time: statsTime(readAt),
    ...(defaultInterface ?? { name: '' }),
    ...(interfaces.length > 0 ? { interfaces } : {}),
  };
}

export interface FsStats {
  readonly time: StatsTime;
  readonly availableBytes?: number | undefined;
  readonly capacityBytes?: number | undefined;
  readonly usedBytes?: number | undefined;
  readonly inodesFree?: number | undefined;
  readonly inodes?: number | undefined;
  readonly inodesUsed?: number | undefined;
}

export interface VolumeStats extends FsStats {
  readonly name: string;
  readonly pvcRef?: { readonly name: string; readonly namespace: string } | undefined;
}

interface RlimitStats {
  readonly time: StatsTime;
  readonly maxpid?: number | undefined;
  readonly curproc?: number | undefined;
}
