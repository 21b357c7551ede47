/** The settings for reserved resources, cgroups, eviction and swap. */

import type { ResourceList } from '../../kubernetes/api/schema/scalars.ts';
import type { ReservedResources } from '../../kubernetes/resources/allocatable.ts';
import type { Flags } from './flags.ts';
import type { ConfigFile } from './readFile.ts';

export interface NodeResources {
  readonly reserved: ReservedResources;
  /** Whether the limit of all pods together excludes the reserved resources. */
  readonly enforcesAllocatable: boolean;
  /** Whether pods and their QoS classes have cgroups of their own. */
  readonly cgroupsPerQos: boolean;
  readonly podPidsLimit: number;
  /** Whether Burstable pods may use a share of the node's swap. */
  readonly limitedSwap: boolean;
  readonly cpuCfsQuota: boolean;
  readonly cpuCfsQuotaPeriodMs: number;
  /** OOM score adjustment of the agent, from -1000 (never killed) to 1000. */
  readonly oomScoreAdj: number;
  /** Absolute name of the cgroup that the agent moves itself to. Undefined if it stays in its cgroup. */
  readonly kubeletCgroups?: string;
  /** Whether the OOM killer kills single processes. Undefined to kill the whole container on cgroup v2. */
  readonly singleProcessOomKill?: boolean;
}

/** Default hard eviction thresholds. */
const EVICTION_MEMORY = '100Mi';
const EVICTION_DISK = '10%';
/** The kubelet's default (`KubeletOOMScoreAdj` in `pkg/kubelet/qos/policy.go`). */
const OOM_SCORE_ADJ = -999;

/** Compiles the settings of the configuration file with the kubelet's defaults. */
export function nodeResources(
  file: ConfigFile['config'] | undefined,
  { '--kubelet-cgroups': kubeletCgroups = file?.kubeletCgroups }: Pick<Flags, '--kubelet-cgroups'> = {},
): NodeResources {
  const { evictionHard, mergeDefaultEvictionSettings = false } = file ?? {};
  // A file that sets any threshold disables all default thresholds, unless it merges them explicitly.
  const hasDefaults = evictionHard === undefined || mergeDefaultEvictionSettings;
  const evictionHardMemory = evictionHard?.['memory.available'] ?? (hasDefaults ? EVICTION_MEMORY : undefined);
  const evictionHardDisk = evictionHard?.['nodefs.available'] ?? (hasDefaults ? EVICTION_DISK : undefined);
  return Object.freeze({
    reserved: Object.freeze({
      kubeReserved: amounts(file?.kubeReserved),
      systemReserved: amounts(file?.systemReserved),
      ...(evictionHardMemory === undefined ? {} : { evictionHardMemory }),
      ...(evictionHardDisk === undefined ? {} : { evictionHardDisk }),
    }),
    enforcesAllocatable: file?.enforceNodeAllocatable?.includes('pods') ?? true,
    cgroupsPerQos: file?.cgroupsPerQOS ?? true,
    podPidsLimit: file?.podPidsLimit ?? -1,
    limitedSwap: file?.memorySwap?.swapBehavior === 'LimitedSwap',
    cpuCfsQuota: file?.cpuCFSQuota ?? true,
    cpuCfsQuotaPeriodMs: file?.cpuCFSQuotaPeriod ?? 100,
    oomScoreAdj: file?.oomScoreAdj ?? OOM_SCORE_ADJ,
    ...(kubeletCgroups ? { kubeletCgroups } : {}),
    ...(file?.singleProcessOOMKill === undefined ? {} : { singleProcessOomKill: file.singleProcessOOMKill }),
  });
}

function amounts(named: Readonly<Record<string, string | undefined>> = {}): ResourceList {
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );
}
