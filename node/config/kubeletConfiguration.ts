import * as z from 'zod/mini';
import { lookUp } from '../../base/lookUp.ts';
import { lacksTrustBundles } from './featureGates.ts';
import type { KubeletFields } from './settings/allSettings.ts';
import { podRules } from './settings/podSettings.ts';
import { pressureRules } from './settings/pressureSettings.ts';
import { observationRules } from './settings/processSettings.ts';
import { resourceRules } from './settings/resourceSettings.ts';
import { type Rule, rule } from './settings/rule.ts';
import { runtimeRules } from './settings/runtimeSettings.ts';
import { fileSchema } from './settings/schemas.ts';
import { servingRules } from './settings/servingSettings.ts';

const hasGate = ({ featureGates = {} }: KubeletFields, gate: string): boolean =>
  lookUp(featureGates, gate) === true || (Object.hasOwn(featureGates, 'AllAlpha') && featureGates.AllAlpha === true);

/** Rules for fields that a feature gate enables. */
const gateRules: readonly Rule<KubeletFields>[] = [
  rule('memoryReservationPolicy', '"TieredReservation" needs the feature gate MemoryQoS', (config) => {
    return config.memoryReservationPolicy !== 'TieredReservation' || hasGate(config, 'MemoryQoS');
  }),
  rule('logging', 'splitStream and infoBufferSize need the feature gate LoggingAlphaOptions', (config) => {
    const { text = {}, json = {} } = config.logging?.options ?? {};
    const isUsed = [text, json].some(({ splitStream, infoBufferSize }) => splitStream || (infoBufferSize ?? 0n) !== 0n);
    return !isUsed || hasGate(config, 'LoggingAlphaOptions');
  }),
  rule('featureGates', 'ClusterTrustBundleProjection needs the feature gate ClusterTrustBundle', (config) => {
    return !lacksTrustBundles(config);
  }),
];

/** All rules. Each violated rule is a separate error. */
const rules: readonly Rule<KubeletFields>[] = [
  ...resourceRules,
  ...runtimeRules,
  ...pressureRules,
  ...observationRules,
  ...servingRules,
  ...podRules,
  ...gateRules,
];

/**
 * Creates the schema of a KubeletConfiguration `kubelet.config.k8s.io/v1beta1` of Kubernetes 1.36. Durations are parsed
 * into milliseconds.
 */
export const kubeletConfiguration = () =>
  fileSchema().check(
    ...rules.map(({ at, message, holds }) => z.refine<KubeletFields>(holds, { error: message, path: [at] })),
  );

export type KubeletConfiguration = z.output<ReturnType<typeof kubeletConfiguration>>;
