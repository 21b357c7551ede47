/** The part of the configuration that says how a node shares itself out among its pods. */

import type { ResourceList } from '../../kubernetes/api/schema/scalars.ts';
import type { ReservedResources } from '../../kubernetes/resources/allocatable.ts';
import type { Flags } from './flags.ts';
import type { ConfigFile } from './readFile.ts';

export interface NodeResources {
  readonly reserved: ReservedResources;
  /** Whether the pods together may not use what is reserved for others. */
  readonly enforcesAllocatable: boolean;
  /** Whether pods and their QoS classes have cgroups of their own. */
  readonly cgroupsPerQos: boolean;
  readonly podPidsLimit: number;
  /** Whether Burstable pods have a share of the node's swap. */
  readonly limitedSwap: boolean;
  readonly cpuCfsQuota: boolean;
  readonly cpuCfsQuotaPeriodMs: number;
  /** The kernel's readiness to kill the agent when memory runs out, from -1000 (never) to 1000. */
  readonly oomScoreAdj: number;
  /** Absolute name of the cgroup that the agent moves itself to. Undefined: it stays where it was started. */
  readonly kubeletCgroups?: string;
  /** Absent: the whole container where the kernel can (cgroup v2). */
  readonly singleProcessOomKill?: boolean;
}

/** A node without any other line evicts below so much free memory and disk. */
const EVICTION_MEMORY = '100Mi';
const EVICTION_DISK = '10%';
/** The kubelet's default (`KubeletOOMScoreAdj` in `pkg/kubelet/qos/policy.go`). */
const OOM_SCORE_ADJ = -999;

/** Reads it from the configuration file, with the kubelet's defaults. */
export function nodeResources(
  file: ConfigFile['config'] | undefined,
  { '--kubelet-cgroups': kubeletCgroups = file?.kubeletCgroups }: Pick<Flags, '--kubelet-cgroups'> = {},
): NodeResources {
  const { evictionHard, mergeDefaultEvictionSettings = false } = file ?? {};
  // A file that names any signal leaves the others without a line, unless it asks for the defaults too.
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
