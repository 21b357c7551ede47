/** Feature gates, as far as something here goes by them (`pkg/features/kube_features.go` of 1.36). */
import { lookUp } from '../../pod/lookUp.ts';
import type { KubeletFields } from './kubeletFields.ts';

/** Those that are beta, and off unless they are set. */
const BETA: readonly string[] = ['ClusterTrustBundle', 'ClusterTrustBundleProjection'];
const ALL_BETA = 'AllBeta';

type Gated = Pick<KubeletFields, 'featureGates'>;

/** Whether the trust anchors of the cluster can be shown in volumes. */
export const hasTrustBundles = (config: Gated): boolean => isOn(config, 'ClusterTrustBundleProjection');

/** A kubelet does not start with a feature and without what that builds upon. */
export const lacksTrustBundles = (config: Gated): boolean =>
  hasTrustBundles(config) && !isOn(config, 'ClusterTrustBundle');

/** Those that are set and change nothing here. */
export const gatesIgnored = ({ featureGates = {} }: Gated): string[] =>
  Object.keys(featureGates).filter((name) => !BETA.includes(name) && name !== ALL_BETA);

const isOn = ({ featureGates = {} }: Gated, name: string): boolean =>
  lookUp(featureGates, name) ?? lookUp(featureGates, ALL_BETA) ?? false;
