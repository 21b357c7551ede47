/** The rules over several fields that a kubelet enforces (`pkg/kubelet/apis/config/validation` of 1.36). */

import { lookUp } from '../../base/lookUp.ts';
import { countIdRanges } from '../../host/pods/userNamespaces.ts';
import { allowlistRefusal } from '../../kubernetes/images/imageVerification.ts';
import { lacksTrustBundles } from './featureGates.ts';
import type { KubeletFields } from './kubeletFields.ts';
import { DEFAULT_MAX_PODS } from './parts/resources.ts';

/** A rule with its error message, the field that the error names, and the check. */
export interface Rule {
  readonly at: keyof KubeletFields;
  readonly message: string;
  readonly holds: (config: KubeletFields) => boolean;
}

const rule = (at: keyof KubeletFields, message: string, holds: Rule['holds']): Rule => ({ at, message, holds });

const SECOND = 1_000;
const DEFAULT_MINIMUM_GC_AGE = 120_000;
const DEFAULT_HIGH_THRESHOLD = 85;
const DEFAULT_LOW_THRESHOLD = 80;

const enforces = ({ enforceNodeAllocatable = [] }: KubeletFields, ...names: readonly string[]): boolean =>
  enforceNodeAllocatable.some((each) => names.includes(each));

const both = (config: KubeletFields, name: string): boolean =>
  enforces(config, name) && enforces(config, `${name}-compressible`);

const isZeroOrASecond = (duration = 0): boolean => duration === 0 || duration >= SECOND;

const hasGate = ({ featureGates = {} }: KubeletFields, gate: string): boolean =>
  lookUp(featureGates, gate) === true || (Object.hasOwn(featureGates, 'AllAlpha') && featureGates.AllAlpha === true);

const enforcement: readonly Rule[] = [
  rule('enforceNodeAllocatable', 'needs cgroupsPerQOS', (config) => {
    return config.cgroupsPerQOS !== false || (config.enforceNodeAllocatable ?? []).every((each) => each === 'none');
  }),
  rule('enforceNodeAllocatable', 'must have nothing beside "none"', (config) => {
    return !enforces(config, 'none') || (config.enforceNodeAllocatable ?? []).length === 1;
  }),
  rule('enforceNodeAllocatable', 'must not name anything twice', ({ enforceNodeAllocatable = [] }) => {
    return new Set(enforceNodeAllocatable).size === enforceNodeAllocatable.length;
  }),
  rule(
    'enforceNodeAllocatable',
    'must not have both "system-reserved" and "system-reserved-compressible"',
    (config) => {
      return !both(config, 'system-reserved');
    },
  ),
  rule('enforceNodeAllocatable', 'must not have both "kube-reserved" and "kube-reserved-compressible"', (config) => {
    return !both(config, 'kube-reserved');
  }),
  rule('systemReservedCgroup', 'is required by "system-reserved" in enforceNodeAllocatable', (config) => {
    return !enforces(config, 'system-reserved', 'system-reserved-compressible') || Boolean(config.systemReservedCgroup);
  }),
  rule('kubeReservedCgroup', 'is required by "kube-reserved" in enforceNodeAllocatable', (config) => {
    return !enforces(config, 'kube-reserved', 'kube-reserved-compressible') || Boolean(config.kubeReservedCgroup);
  }),
  rule('reservedSystemCPUs', 'cannot be used with systemReservedCgroup or kubeReservedCgroup', (config) => {
    return !config.reservedSystemCPUs || !(config.systemReservedCgroup || config.kubeReservedCgroup);
  }),
  rule('reservedMemory', 'must not name a resource of a NUMA node twice', ({ reservedMemory = [] }) => {
    const names = reservedMemory.flatMap(({ numaNode, limits }) =>
      Object.keys(limits).map((each) => `${numaNode}/${each}`),
    );
    return new Set(names).size === names.length;
  }),
  rule('memoryReservationPolicy', '"TieredReservation" needs the feature gate MemoryQoS', (config) => {
    return config.memoryReservationPolicy !== 'TieredReservation' || hasGate(config, 'MemoryQoS');
  }),
];

const imageRules: readonly Rule[] = [
  rule('maxParallelImagePulls', 'must be 1 where serializeImagePulls is true', (config) => {
    return config.serializeImagePulls !== true || (config.maxParallelImagePulls ?? 1) === 1;
  }),
  rule('imageGCLowThresholdPercent', 'must be less than imageGCHighThresholdPercent', (config) => {
    const low = config.imageGCLowThresholdPercent ?? DEFAULT_LOW_THRESHOLD;
    return low < (config.imageGCHighThresholdPercent ?? DEFAULT_HIGH_THRESHOLD);
  }),
  rule('imageMaximumGCAge', 'must be longer than imageMinimumGCAge (2m0s if it is not set)', (config) => {
    const { imageMaximumGCAge = 0, imageMinimumGCAge } = config;
    return imageMaximumGCAge === 0 || imageMaximumGCAge > (imageMinimumGCAge || DEFAULT_MINIMUM_GC_AGE);
  }),
  rule('preloadedImagesVerificationAllowlist', 'needs the policy "NeverVerifyAllowlistedImages"', (config) => {
    const { preloadedImagesVerificationAllowlist: list = [], imagePullCredentialsVerificationPolicy: policy } = config;
    return list.length === 0 || policy === 'NeverVerifyAllowlistedImages';
  }),
  rule(
    'preloadedImagesVerificationAllowlist',
    'has entries that are neither an image without tag and digest nor end in "/*"',
    (config) => {
      return (config.preloadedImagesVerificationAllowlist ?? []).every(
        (entry) => allowlistRefusal(entry) === undefined,
      );
    },
  ),
];

const shutdownRules: readonly Rule[] = [
  rule('shutdownGracePeriod', 'must be 0 or at least 1s', (config) => isZeroOrASecond(config.shutdownGracePeriod)),
  rule('shutdownGracePeriodCriticalPods', 'must be 0 or at least 1s', (config) => {
    return isZeroOrASecond(config.shutdownGracePeriodCriticalPods);
  }),
  rule('shutdownGracePeriodCriticalPods', 'must not be longer than shutdownGracePeriod', (config) => {
    return (config.shutdownGracePeriodCriticalPods ?? 0) <= (config.shutdownGracePeriod ?? 0);
  }),
  rule('shutdownGracePeriodByPodPriority', 'must not be set together with shutdownGracePeriod', (config) => {
    const {
      shutdownGracePeriodByPodPriority: byPriority = [],
      shutdownGracePeriod,
      shutdownGracePeriodCriticalPods,
    } = config;
    return byPriority.length === 0 || !(shutdownGracePeriod || shutdownGracePeriodCriticalPods);
  }),
  rule(
    'evictionSoftGracePeriod',
    'must have each signal of evictionSoft',
    ({ evictionSoft = {}, evictionSoftGracePeriod = {} }) => {
      return Object.keys(evictionSoft).every((signal) => Object.hasOwn(evictionSoftGracePeriod, signal));
    },
  ),
];

const logRules: readonly Rule[] = [
  rule('logging', 'vmodule is for the format "text" alone', ({ logging = {} }) => {
    return !logging.vmodule?.length || !logging.format || logging.format === 'text';
  }),
  rule('logging', 'splitStream and infoBufferSize need the feature gate LoggingAlphaOptions', (config) => {
    const { text = {}, json = {} } = config.logging?.options ?? {};
    const isUsed = [text, json].some(({ splitStream, infoBufferSize }) => splitStream || (infoBufferSize ?? 0n) !== 0n);
    return !isUsed || hasGate(config, 'LoggingAlphaOptions');
  }),
  rule('enableSystemLogQuery', 'needs enableSystemLogHandler', (config) => {
    return config.enableSystemLogQuery !== true || config.enableSystemLogHandler !== false;
  }),
];

/** All rules. Each broken rule is a separate mistake. */
export const rules: readonly Rule[] = [
  ...enforcement,
  ...imageRules,
  ...shutdownRules,
  ...logRules,
  rule('userNamespaces', 'idsPerPod must be a multiple of 65536', ({ userNamespaces }) => {
    return (userNamespaces?.idsPerPod ?? 0) % 65_536 === 0;
  }),
  rule('maxPods', 'must not exceed the number of ID ranges of userNamespaces.idsPerPod IDs', (config) => {
    return (config.maxPods || DEFAULT_MAX_PODS) <= countIdRanges(config.userNamespaces?.idsPerPod || undefined);
  }),
  rule('featureGates', 'ClusterTrustBundleProjection needs the feature gate ClusterTrustBundle', (config) => {
    return !lacksTrustBundles(config);
  }),
  rule('systemCgroups', 'needs cgroupRoot', (config) => !config.systemCgroups || Boolean(config.cgroupRoot)),
];
