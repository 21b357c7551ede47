/** Compiles the settings for reserved resources, cgroups, eviction and swap. */

import type { ResourceList } from '../../../kubernetes/api/schema/scalars.ts';
import { parseCpuSet } from '../../../kubernetes/cpus/cpuSet.ts';
import { compileThresholds, type Threshold } from '../../../kubernetes/eviction/thresholds.ts';
import type { ReservedResources } from '../../../kubernetes/resources/allocatable.ts';
import type { MemoryQos } from '../../../kubernetes/resources/memoryQos.ts';
import { type ReservedCgroup, reservedCgroups } from '../../../kubernetes/resources/reservedCgroups.ts';
import { enforcesMemoryQos } from '../featureGates.ts';
import { DEFAULT_EVICTION_HARD } from '../settings/pressureSettings.ts';
import type { SettingValues } from '../settings/settingValues.ts';

export interface NodeResources {
  readonly reservedResources: ReservedResources;
  /** Whether the total usage of all pods is limited to the node's allocatable resources. */
  readonly enforcesAllocatable: boolean;
  /** Existing cgroups of system and Kubernetes daemons. The node sets the limits of these cgroups at startup. */
  readonly reservedCgroups: readonly ReservedCgroup[];
  /** Whether pods and their QoS classes have cgroups of their own. */
  readonly cgroupsPerQos: boolean;
  readonly podPidsLimit: number;
  /** MemoryQoS settings. Undefined if the feature gate is off. */
  readonly memoryQos?: Pick<MemoryQos, 'throttlingFactor' | 'isTiered'>;
  /** Whether Burstable pods may use a share of the node's swap. */
  readonly limitedSwap: boolean;
  readonly cpuCfsQuota: boolean;
  readonly cpuCfsQuotaPeriodMs: number;
  /** OOM score adjustment of the agent, from -1000 (never killed) to 1000. */
  readonly oomScoreAdj: number;
  /**
   * Absolute name of the cgroup to which the agent moves itself. Undefined if the agent stays in its initial cgroup.
   */
  readonly kubeletCgroups?: string;
  /** Whether the OOM kill of a process is reported if the container of the process continues to run. */
  readonly reportsProcessOomKills: boolean;
  /** Whether the OOM killer kills single processes. If undefined, it kills the whole container on cgroup v2. */
  readonly singleProcessOomKill?: boolean;
  readonly eviction: EvictionSettings;
}

interface EvictionSettings {
  readonly thresholds: readonly Threshold[];
  /** Time in milliseconds for which the node reports pressure after a threshold was last met. */
  readonly transitionMs: number;
  /** Maximum grace period in seconds of a pod that is evicted because of a soft threshold. */
  readonly maxPodGraceSeconds: number;
  /** Whether the pods' limits on local ephemeral storage are enforced. */
  readonly enforcesStorageLimits: boolean;
}

export function nodeResources(values: SettingValues): NodeResources {
  const { kubeletCgroups, singleProcessOOMKill, memoryThrottlingFactor, memoryReservationPolicy } = values;
  const { 'memory.available': evictionHardMemory, 'nodefs.available': evictionHardDisk } = hardThresholds(values);
  const reserved = reservedAmounts(values);
  return Object.freeze({
    reservedResources: Object.freeze({
      ...reserved,
      ...(evictionHardMemory === undefined ? {} : { evictionHardMemory }),
      ...(evictionHardDisk === undefined ? {} : { evictionHardDisk }),
    }),
    enforcesAllocatable: values.enforceNodeAllocatable.includes('pods'),
    reservedCgroups: Object.freeze(
      reservedCgroups({
        enforcements: values.enforceNodeAllocatable,
        systemReservedCgroup: values.systemReservedCgroup ?? '',
        kubeReservedCgroup: values.kubeReservedCgroup ?? '',
        reserved,
        protectsMemory: enforcesMemoryQos(values),
      }),
    ),
    cgroupsPerQos: values.cgroupsPerQOS,
    podPidsLimit: values.podPidsLimit,
    ...(enforcesMemoryQos(values)
      ? {
          memoryQos: Object.freeze({
            throttlingFactor: memoryThrottlingFactor,
            isTiered: memoryReservationPolicy === 'TieredReservation',
          }),
        }
      : {}),
    limitedSwap: values.memorySwap.swapBehavior === 'LimitedSwap',
    cpuCfsQuota: values.cpuCFSQuota,
    cpuCfsQuotaPeriodMs: values.cpuCFSQuotaPeriod,
    oomScoreAdj: values.oomScoreAdj,
    reportsProcessOomKills: values['--report-process-oom-kills'],
    ...(kubeletCgroups ? { kubeletCgroups } : {}),
    ...(singleProcessOOMKill === undefined ? {} : { singleProcessOomKill: singleProcessOOMKill }),
    eviction: evictionSettings(values),
  });
}

function evictionSettings(values: SettingValues): EvictionSettings {
  const thresholds = compileThresholds({
    hard: hardThresholds(values),
    soft: values.evictionSoft,
    softGracePeriod: values.evictionSoftGracePeriod,
    minimumReclaim: values.evictionMinimumReclaim,
    enforcesAllocatable: values.enforceNodeAllocatable.includes('pods'),
  });
  return Object.freeze({
    thresholds: Object.freeze(thresholds),
    transitionMs: values.evictionPressureTransitionPeriod,
    maxPodGraceSeconds: values.evictionMaxPodGracePeriod,
    enforcesStorageLimits: values.localStorageCapacityIsolation,
  });
}

/**
 * Returns the reserved amounts. If `reservedSystemCPUs` lists CPUs, their count replaces all configured amounts of CPU
 * (`run` in `cmd/kubelet/app/server.go`).
 */
function reservedAmounts(values: SettingValues): Pick<ReservedResources, 'kubeReserved' | 'systemReserved'> {
  const [kubeReserved, systemReserved] = [toResourceList(values.kubeReserved), toResourceList(values.systemReserved)];
  const reservedCpus = parseCpuSet(values.reservedSystemCPUs ?? '');
  if (reservedCpus.length === 0) return { kubeReserved, systemReserved };
  const { cpu: _, ...otherKubeReserved } = kubeReserved;
  return { kubeReserved: otherKubeReserved, systemReserved: { ...systemReserved, cpu: String(reservedCpus.length) } };
}

/**
 * Returns the hard eviction thresholds. A configuration file that sets any threshold disables all default thresholds,
 * unless `mergeDefaultEvictionSettings` is true.
 */
const hardThresholds = ({ evictionHard, mergeDefaultEvictionSettings }: SettingValues) =>
  mergeDefaultEvictionSettings ? { ...DEFAULT_EVICTION_HARD, ...evictionHard } : evictionHard;

function toResourceList(amountsByName: Readonly<Record<string, string | undefined>> = {}): ResourceList {
  return Object.fromEntries(
    Object.entries(amountsByName).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );
}
