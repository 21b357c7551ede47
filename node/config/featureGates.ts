/** Lists the feature gates that have an effect on the node (`pkg/features/kube_features.go` of 1.36). */
import { lookUp } from '../../base/lookUp.ts';
import type { KubeletFields } from './settings/allSettings.ts';

/** Beta gates that are disabled by default. */
const BETA: readonly string[] = ['ClusterTrustBundle', 'ClusterTrustBundleProjection'];
const ALL_BETA = 'AllBeta';
/** Beta gates that are enabled by default. */
const BETA_ON: readonly string[] = ['ContainerCheckpoint'];
/** Alpha gates, which are disabled by default. */
const ALPHA: readonly string[] = ['PodLogsQuerySplitStreams'];
const ALL_ALPHA = 'AllAlpha';

type Gated = Pick<KubeletFields, 'featureGates'>;

/** Whether volumes can project ClusterTrustBundles. */
export const hasTrustBundles = (config: Gated): boolean => isOn(config, 'ClusterTrustBundleProjection');

/** Whether clients can request a single stream of a container's log. */
export const splitsLogs = (config: Gated): boolean => isOn(config, 'PodLogsQuerySplitStreams', ALL_ALPHA);

/** Whether running containers can be checkpointed. */
export const takesCheckpoints = ({ featureGates = {} }: Gated): boolean =>
  lookUp(featureGates, 'ContainerCheckpoint') ?? lookUp(featureGates, ALL_BETA) ?? true;

/** Whether a gate is enabled without the gate that it depends on, in which case a kubelet does not start. */
export const lacksTrustBundles = (config: Gated): boolean =>
  hasTrustBundles(config) && !isOn(config, 'ClusterTrustBundle');

/** Returns the gates that are set but have no effect on this node. */
export const gatesIgnored = ({ featureGates = {} }: Gated): string[] =>
  Object.keys(featureGates).filter((name) => ![...BETA, ...BETA_ON, ALL_BETA, ...ALPHA, ALL_ALPHA].includes(name));

const isOn = ({ featureGates = {} }: Gated, name: string, all = ALL_BETA): boolean =>
  lookUp(featureGates, name) ?? lookUp(featureGates, all) ?? false;

export interface Gate {
  readonly name: string;
  readonly stage: 'ALPHA' | 'BETA';
  readonly isEnabled: boolean;
}

/** Returns the state of every gate that has an effect on the node. */
export const knownGates = (config: Gated): readonly Gate[] => [
  ...BETA.map((name): Gate => ({ name, stage: 'BETA', isEnabled: isOn(config, name) })),
  ...BETA_ON.map((name): Gate => ({ name, stage: 'BETA', isEnabled: takesCheckpoints(config) })),
  ...ALPHA.map((name): Gate => ({ name, stage: 'ALPHA', isEnabled: isOn(config, name, ALL_ALPHA) })),
];
