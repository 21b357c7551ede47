import * as z from 'zod/mini';
import { lookUp } from '../../../base/values/lookUp.ts';
import {
  followsShutdown,
  isTrustBundleGateMissing,
  ordersShutdownByPriority,
  reportsDeviceHealth,
  reportsHealthMessages,
} from '../featureGates.ts';
import type { KubeletFields } from '../settings/allSettings.ts';
import { podRules } from '../settings/podSettings.ts';
import { pressureRules } from '../settings/pressureSettings.ts';
import { observationRules } from '../settings/processSettings.ts';
import { resourceRules } from '../settings/resourceSettings.ts';
import { type ConfigRule, createRule } from '../settings/rule.ts';
import { runtimeRules } from '../settings/runtimeSettings.ts';
import { fileSchema } from '../settings/schemas.ts';
import { servingRules } from '../settings/servingSettings.ts';

const isGateSet = ({ featureGates = {} }: KubeletFields, gate: string): boolean =>
  lookUp(featureGates, gate) === true || (Object.hasOwn(featureGates, 'AllAlpha') && featureGates.AllAlpha === true);

/** Rules for fields that a feature gate enables. */
const gateRules: readonly ConfigRule<KubeletFields>[] = [
  createRule('memoryReservationPolicy', '"TieredReservation" needs the feature gate MemoryQoS', (config) => {
    return config.memoryReservationPolicy !== 'TieredReservation' || isGateSet(config, 'MemoryQoS');
  }),
  createRule('logging', 'splitStream and infoBufferSize need the feature gate LoggingAlphaOptions', (config) => {
    const { text = {}, json = {} } = config.logging?.options ?? {};
    const usesSplitStream = [text, json].some(
      ({ splitStream, infoBufferSize }) => splitStream || (infoBufferSize ?? 0n) !== 0n,
    );
    return !usesSplitStream || isGateSet(config, 'LoggingAlphaOptions');
  }),
  createRule('featureGates', 'ClusterTrustBundleProjection needs the feature gate ClusterTrustBundle', (config) => {
    return !isTrustBundleGateMissing(config);
  }),
  createRule('featureGates', 'ResourceHealthStatusMessage needs the feature gate ResourceHealthStatus', (config) => {
    return !reportsHealthMessages(config) || reportsDeviceHealth(config);
  }),
];

/** Rules for the feature gates of graceful node shutdown. */
const shutdownGateRules: readonly ConfigRule<KubeletFields>[] = [
  createRule('shutdownGracePeriod', 'needs the feature gate GracefulNodeShutdown', (config) => {
    const { shutdownGracePeriod = 0, shutdownGracePeriodCriticalPods = 0 } = config;
    return shutdownGracePeriod + shutdownGracePeriodCriticalPods === 0 || followsShutdown(config);
  }),
  createRule(
    'shutdownGracePeriodByPodPriority',
    'needs the feature gate GracefulNodeShutdownBasedOnPodPriority',
    ({ shutdownGracePeriodByPodPriority = [], ...config }) =>
      shutdownGracePeriodByPodPriority.length === 0 || ordersShutdownByPriority(config),
  ),
];

/** All rules that involve several fields. Each violated rule is reported as a separate error. */
const kubeletRules: readonly ConfigRule<KubeletFields>[] = [
  ...resourceRules,
  ...runtimeRules,
  ...pressureRules,
  ...observationRules,
  ...servingRules,
  ...podRules,
  ...gateRules,
  ...shutdownGateRules,
];

/**
 * Creates the schema of a KubeletConfiguration `kubelet.config.k8s.io/v1beta1` of Kubernetes 1.36. Durations are parsed
 * into milliseconds.
 */
export const kubeletConfiguration = () =>
  fileSchema().check(
    ...kubeletRules.map(({ at, message, isSatisfied }) =>
      z.refine<KubeletFields>(isSatisfied, { error: message, path: [at] }),
    ),
  );

export type KubeletConfiguration = z.output<ReturnType<typeof kubeletConfiguration>>;
