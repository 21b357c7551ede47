/** Feature gates, as far as something here goes by them (`pkg/features/kube_features.go` of 1.36). */
import { lookUp } from '../../base/lookUp.ts';
import type { KubeletFields } from './kubeletFields.ts';

/** Those that are beta, and off unless they are set. */
const BETA: readonly string[] = ['ClusterTrustBundle', 'ClusterTrustBundleProjection'];
const ALL_BETA = 'AllBeta';
/** Those that are beta, and on unless they are set. */
const BETA_ON: readonly string[] = ['ContainerCheckpoint'];
/** Those that are alpha. */
const ALPHA: readonly string[] = ['PodLogsQuerySplitStreams'];
const ALL_ALPHA = 'AllAlpha';

type Gated = Pick<KubeletFields, 'featureGates'>;

/** Whether the trust anchors of the cluster can be shown in volumes. */
export const hasTrustBundles = (config: Gated): boolean => isOn(config, 'ClusterTrustBundleProjection');

/** Whether one stream of a container's log can be asked for. */
export const splitsLogs = (config: Gated): boolean => isOn(config, 'PodLogsQuerySplitStreams', ALL_ALPHA);

/** Whether containers can be written down as they run. */
export const takesCheckpoints = ({ featureGates = {} }: Gated): boolean =>
  lookUp(featureGates, 'ContainerCheckpoint') ?? lookUp(featureGates, ALL_BETA) ?? true;

/** A kubelet does not start with a feature and without what that builds upon. */
export const lacksTrustBundles = (config: Gated): boolean =>
  hasTrustBundles(config) && !isOn(config, 'ClusterTrustBundle');

/** Those that are set and change nothing here. */
export const gatesIgnored = ({ featureGates = {} }: Gated): string[] =>
  Object.keys(featureGates).filter((name) => ![...BETA, ...BETA_ON, ALL_BETA, ...ALPHA, ALL_ALPHA].includes(name));

const isOn = ({ featureGates = {} }: Gated, name: string, all = ALL_BETA): boolean =>
  lookUp(featureGates, name) ?? lookUp(featureGates, all) ?? false;

export interface Gate {
  readonly name: string;
  readonly stage: 'ALPHA' | 'BETA';
  readonly isEnabled: boolean;
}

/** All gates that the node acts on. */
export const knownGates = (config: Gated): readonly Gate[] => [
  ...BETA.map((name): Gate => ({ name, stage: 'BETA', isEnabled: isOn(config, name) })),
  ...BETA_ON.map((name): Gate => ({ name, stage: 'BETA', isEnabled: takesCheckpoints(config) })),
  ...ALPHA.map((name): Gate => ({ name, stage: 'ALPHA', isEnabled: isOn(config, name, ALL_ALPHA) })),
];
