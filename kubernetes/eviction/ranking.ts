/** Ranks pods for eviction (`rankMemoryPressure`, `rankPIDPressure` and `rankDiskPressureFunc` in `helpers.go`). */

import { lookUp } from '../../base/values/lookUp.ts';
import { isCriticalPod } from '../api/pods/staticPod.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { Volume } from '../api/schema/volume.ts';
import { podRequest } from '../resources/resources.ts';
import { roundedAmountText } from './amounts.ts';
import { type DiskLayout, type DiskPart, diskPartsOf } from './layout.ts';
import { resourceOf, type Signal } from './signals.ts';
import type { DiskUsage, PodUsage, PodUsages } from './usage.ts';

/** A pod with the values by which it is ranked. */
export interface RankedPod {
  readonly pod: Pod;
  readonly usage: PodUsage | undefined;
  readonly priority: number;
  /** Used amount of the signal's resource. */
  readonly used: number;
  /**
   * Requested amount. Only the usage beyond this amount affects the rank. As in the kubelet, the number of used inodes
   * is compared with the requested ephemeral storage when inodes are scarce.
   */
  readonly requested: number;
  /** Whether the pod uses more of the resource than it requests. */
  readonly exceedsRequest: boolean;
}

export interface RankingInput {
  readonly pods: readonly Pod[];
  readonly usages: PodUsages;
  readonly signal: Signal;
  readonly layout: DiskLayout;
}

/** Returns the pods in the order in which they would be evicted. */
export function rankPods({ pods, usages, signal, layout }: RankingInput): RankedPod[] {
  const rankedPods = pods.map((pod) => rankedPod(pod, lookUp(usages, pod.metadata.uid), signal, layout));
  return rankedPods.sort(signal === 'pid.available' ? compareByProcesses : compareByRequest);
}

function rankedPod(pod: Pod, usage: PodUsage | undefined, signal: Signal, layout: DiskLayout): RankedPod {
  const resource = resourceOf(signal);
  const priority = pod.spec.priority ?? 0;
  const used = usage === undefined ? 0 : usedAmount(pod, usage, signal, layout);
  const requested =
    resource === 'pids' ? 0 : podRequest(pod.spec, resource === 'memory' ? 'memory' : 'ephemeral-storage');
  // No pod can request inodes, so any use of them exceeds the request.
  const exceedsRequest = used > (resource === 'inodes' ? 0 : requested);
  return { pod, usage, priority, used, requested, exceedsRequest };
}

function usedAmount(pod: Pod, usage: PodUsage, signal: Signal, layout: DiskLayout): number {
  switch (resourceOf(signal)) {
    case 'memory':
      return usage.memoryBytes ?? 0;
    case 'pids':
      return usage.processes ?? 0;
    case 'ephemeral-storage':
      return diskUsage(pod, usage, diskPartsOf(signal, layout), ({ bytes }) => bytes);
    case 'inodes':
      return diskUsage(pod, usage, diskPartsOf(signal, layout), ({ inodes }) => inodes);
  }
}

function diskUsage(
  { spec: { volumes = [] } }: Pod,
  usage: PodUsage,
  diskParts: readonly DiskPart[],
  amountOf: (usage: DiskUsage) => number | undefined,
): number {
  const localVolumeNames = new Set(volumes.filter(isLocalVolume).map(({ name }) => name));
  const usagesByPart: Readonly<Record<DiskPart, readonly (DiskUsage | undefined)[]>> = {
    rootfs: usage.containers.map(({ rootfs }) => rootfs),
    logs: usage.containers.map(({ logs }) => logs),
    volumes: usage.volumes.filter(({ name }) => localVolumeNames.has(name)),
  };
  return diskParts
    .flatMap((part) => usagesByPart[part])
    .reduce((sum, each) => sum + ((each === undefined ? undefined : amountOf(each)) ?? 0), 0);
}

/** Whether a volume counts toward the pod's own disk usage (`localVolumeNames`). */
const isLocalVolume = ({ emptyDir, configMap, hostPath }: Volume): boolean =>
  configMap !== undefined || hostPath !== undefined || (emptyDir !== undefined && !emptyDir.medium);

type Comparison = (first: RankedPod, second: RankedPod) => number;

/** Compares pods so that those with unknown usage are ranked first. */
const compareByMissingUsage: Comparison = (first, second) =>
  Number(second.usage === undefined) - Number(first.usage === undefined);

const compareByPriority: Comparison = (first, second) => first.priority - second.priority;

const compareByRequest: Comparison = (first, second) =>
  compareByMissingUsage(first, second) ||
  Number(second.exceedsRequest) - Number(first.exceedsRequest) ||
  compareByPriority(first, second) ||
  second.used - second.requested - (first.used - first.requested);

const compareByProcesses: Comparison = (first, second) =>
  compareByPriority(first, second) || compareByMissingUsage(first, second) || second.used - first.used;

/** Whether a pod may be evicted. Always false for a critical pod. */
export const isEvictable = ({ pod }: RankedPod): boolean => !isCriticalPod(pod);

/** Returns the pod to evict first. */
export const selectVictim = (rankedPods: readonly RankedPod[]): RankedPod | undefined => rankedPods.find(isEvictable);

/** Explains the rank of a pod, e.g. `it uses 300Mi of memory, 200Mi more than it requests, and has priority 0`. */
export function rankingReason(signal: Signal, { usage, used, requested, exceedsRequest, priority }: RankedPod): string {
  const resource = resourceOf(signal);
  if (usage === undefined) return `its usage is unknown, and it has priority ${priority}`;
  if (resource === 'pids') return `it has priority ${priority} and ${used} processes`;
  const usedText = `it uses ${roundedAmountText(signal, used)} of ${resource}`;
  if (resource === 'inodes') return `${usedText} and has priority ${priority}`;
  const comparison = exceedsRequest
    ? `${roundedAmountText(signal, used - requested)} more than it requests`
    : `within its request of ${roundedAmountText(signal, requested)}`;
  return `${usedText}, ${comparison}, and has priority ${priority}`;
}
