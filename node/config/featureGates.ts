/** Lists the feature gates that have an effect on the node (`pkg/features/kube_features.go` of 1.36). */
import { lookUp } from '../../base/values/lookUp.ts';
import type { KubeletFields } from './settings/allSettings.ts';

/** Beta gates that are disabled by default. */
const DISABLED_BETA_GATES: readonly string[] = ['ClusterTrustBundle', 'ClusterTrustBundleProjection'];
const ALL_BETA = 'AllBeta';
/** Beta gates that are enabled by default. */
const ENABLED_BETA_GATES: readonly string[] = [
  'ContainerCheckpoint',
  'CPUManagerPolicyBetaOptions',
  'GracefulNodeShutdown',
  'GracefulNodeShutdownBasedOnPodPriority',
  'ResourceHealthStatus',
  'ResourceHealthStatusMessage',
];
/** Alpha gates, which are disabled by default. */
const ALPHA_GATES: readonly string[] = ['CPUManagerPolicyAlphaOptions', 'MemoryQoS', 'PodLogsQuerySplitStreams'];
const ALL_ALPHA = 'AllAlpha';
/** Deprecated gates, which are enabled by default and restore an earlier behavior when disabled. */
const DEPRECATED_GATES: readonly string[] = [
  'DisableCPUQuotaWithExclusiveCPUs',
  'KubeletPodResourcesListUseActivePods',
];

type GatedConfig = Pick<KubeletFields, 'featureGates'>;

/** Whether volumes can project ClusterTrustBundles. */
export const hasTrustBundles = (config: GatedConfig): boolean => isGateEnabled(config, 'ClusterTrustBundleProjection');

/** Whether clients can request only the stdout or only the stderr of a container's log. */
export const splitsLogs = (config: GatedConfig): boolean =>
  isGateEnabled(config, 'PodLogsQuerySplitStreams', ALL_ALPHA);

/** Whether running containers can be checkpointed. */
export const supportsCheckpoints = (config: GatedConfig): boolean => isEnabledByDefault(config, 'ContainerCheckpoint');

/** Whether the node delays the shutdown of its host. */
export const followsShutdown = (config: GatedConfig): boolean => isEnabledByDefault(config, 'GracefulNodeShutdown');

/** Whether `shutdownGracePeriodByPodPriority` can be set. */
export const ordersShutdownByPriority = (config: GatedConfig): boolean =>
  isEnabledByDefault(config, 'GracefulNodeShutdownBasedOnPodPriority');

/** Whether the statuses of containers contain the health of their devices. */
export const reportsDeviceHealth = (config: GatedConfig): boolean => isEnabledByDefault(config, 'ResourceHealthStatus');

/** Whether the statuses of containers contain the messages of drivers about the health of devices. */
export const reportsHealthMessages = (config: GatedConfig): boolean =>
  isEnabledByDefault(config, 'ResourceHealthStatusMessage');

/** Whether the CPU manager accepts policy options that are in beta. */
export const allowsBetaCpuOptions = (config: GatedConfig): boolean =>
  isEnabledByDefault(config, 'CPUManagerPolicyBetaOptions');

/** Whether the CPU manager accepts policy options that are in alpha. */
export const allowsAlphaCpuOptions = (config: GatedConfig): boolean =>
  isGateEnabled(config, 'CPUManagerPolicyAlphaOptions', ALL_ALPHA);

/** Whether memory is protected and throttled by cgroup v2 (`memory.min`, `memory.low` and `memory.high`). */
export const enforcesMemoryQos = (config: GatedConfig): boolean => isGateEnabled(config, 'MemoryQoS', ALL_ALPHA);

/** Whether containers with exclusive CPUs have no CPU quota. */
export const liftsQuotaOfExclusiveCpus = (config: GatedConfig): boolean =>
  isDeprecatedGateEnabled(config, 'DisableCPUQuotaWithExclusiveCPUs');

/** Whether the pod-resources API lists only active pods. */
export const listsOnlyActivePods = (config: GatedConfig): boolean =>
  isDeprecatedGateEnabled(config, 'KubeletPodResourcesListUseActivePods');

/**
 * Whether `ClusterTrustBundleProjection` is enabled without `ClusterTrustBundle`, in which case the kubelet does not
 * start.
 */
export const isTrustBundleGateMissing = (config: GatedConfig): boolean =>
  hasTrustBundles(config) && !isGateEnabled(config, 'ClusterTrustBundle');

/** Returns the gates that are set but have no effect on this node. */
export const listIgnoredGates = ({ featureGates = {} }: GatedConfig): string[] =>
  Object.keys(featureGates).filter(
    (name) =>
      ![
        ...DISABLED_BETA_GATES,
        ...ENABLED_BETA_GATES,
        ALL_BETA,
        ...ALPHA_GATES,
        ALL_ALPHA,
        ...DEPRECATED_GATES,
      ].includes(name),
  );

const isGateEnabled = ({ featureGates = {} }: GatedConfig, name: string, groupGate = ALL_BETA): boolean =>
  lookUp(featureGates, name) ?? lookUp(featureGates, groupGate) ?? false;

const isEnabledByDefault = ({ featureGates = {} }: GatedConfig, name: string): boolean =>
  lookUp(featureGates, name) ?? lookUp(featureGates, ALL_BETA) ?? true;

const isDeprecatedGateEnabled = ({ featureGates = {} }: GatedConfig, name: string): boolean =>
  lookUp(featureGates, name) ?? true;

export interface FeatureGate {
  readonly name: string;
  readonly stage: 'ALPHA' | 'BETA' | 'DEPRECATED';
  readonly isEnabled: boolean;
}

/** Returns the state of every gate that has an effect on the node. */
export const listKnownGates = (config: GatedConfig): readonly FeatureGate[] => [
  ...DISABLED_BETA_GATES.map((name): FeatureGate => ({ name, stage: 'BETA', isEnabled: isGateEnabled(config, name) })),
  ...ENABLED_BETA_GATES.map(
    (name): FeatureGate => ({ name, stage: 'BETA', isEnabled: isEnabledByDefault(config, name) }),
  ),
  ...ALPHA_GATES.map(
    (name): FeatureGate => ({ name, stage: 'ALPHA', isEnabled: isGateEnabled(config, name, ALL_ALPHA) }),
  ),
  ...DEPRECATED_GATES.map(
    (name): FeatureGate => ({ name, stage: 'DEPRECATED', isEnabled: isDeprecatedGateEnabled(config, name) }),
  ),
];
