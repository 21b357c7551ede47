import * as z from 'zod/mini';
import { parseDuration } from '../../../kubernetes/api/values/parseDuration.ts';
import { parseQuantity } from '../../../kubernetes/api/values/quantity.ts';
import { SIGNALS } from '../../../kubernetes/eviction/signals.ts';
import {
  booleanSchema,
  durationSchema,
  integerSchema,
  listSchema,
  matchingStringSchema,
  sectionSchema,
  type stringSchema,
} from '../fields/fields.ts';
import { type ConfigRule, createRule } from './rule.ts';
import { declareSettings, type FieldsOf } from './setting.ts';

/** Creates the schema of a map with an optional entry for each eviction signal. */
const signalMapSchema = (kind: typeof stringSchema) =>
  sectionSchema(Object.fromEntries(SIGNALS.map((signal) => [signal, z.optional(kind)])), 'eviction signal');

/** Schema of an eviction threshold. The kubelet accepts 0 only as a percentage. */
const thresholdSchema = z.custom<string>((value) => typeof value === 'string' && isValidThreshold(value), {
  error: 'expected a quantity above 0 such as "100Mi", or a percentage such as "10%"',
});

function isValidThreshold(value: string): boolean {
  if (value.endsWith('%')) return /^\d+(\.\d+)?%$/.test(value) && Number.parseFloat(value) <= 100;
  return (parseQuantity(value) ?? 0n) > 0n;
}

const gracePeriodSchema = matchingStringSchema(
  'a duration such as "1m30s"',
  (value) => parseDuration(value) !== undefined,
);
const reclaimSchema = matchingStringSchema('a quantity such as "500Mi", or a percentage such as "5%"', (value) =>
  value.endsWith('%')
    ? /^\d+(\.\d+)?%$/.test(value) && Number.parseFloat(value) > 0
    : (parseQuantity(value) ?? -1n) >= 0n,
);

/** The kubelet's default thresholds (`DefaultEvictionHard` in `pkg/kubelet/eviction/defaults_linux.go`). */
export const DEFAULT_EVICTION_HARD: Readonly<Record<string, string>> = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
};

/** Settings for the eviction of pods from a node that runs out of resources. */
const evictionSettings = () =>
  declareSettings({
    evictionHard: {
      type: signalMapSchema(thresholdSchema),
      default: DEFAULT_EVICTION_HARD,
      hidesDefault: true,
      effect:
        'thresholds below which the node reclaims space and evicts pods at once; `memory.available` and `nodefs.available` are also kept from pods',
      unsupportedFlag: '--eviction-hard',
    },
    mergeDefaultEvictionSettings: {
      type: booleanSchema,
      default: false,
      allowsZeroValue: true,
      effect: 'whether the default thresholds apply to signals that `evictionHard` does not contain',
    },
    evictionSoft: {
      type: signalMapSchema(thresholdSchema),
      effect: 'thresholds below which the node does so after a grace period',
      unsupportedFlag: '--eviction-soft',
    },
    evictionSoftGracePeriod: {
      type: signalMapSchema(gracePeriodSchema),
      effect: 'the grace period of each threshold of `evictionSoft`',
      unsupportedFlag: '--eviction-soft-grace-period',
    },
    evictionPressureTransitionPeriod: {
      type: durationSchema(),
      default: '5m',
      effect: 'how long the node reports pressure after no threshold is met any longer (default `{default}`)',
      unsupportedFlag: '--eviction-pressure-transition-period',
    },
    evictionMaxPodGracePeriod: {
      type: integerSchema(),
      default: 0,
      effect:
        'the maximum grace period in seconds of a pod that is evicted for a soft threshold; at least 1 s is granted',
      unsupportedFlag: '--eviction-max-pod-grace-period',
    },
    evictionMinimumReclaim: {
      type: signalMapSchema(reclaimSchema),
      effect: 'the amount that has to be available beyond a threshold before it counts as resolved',
      unsupportedFlag: '--eviction-minimum-reclaim',
    },
    kernelMemcgNotification: {
      type: booleanSchema,
      ignoredReason: 'the memory is checked every second in any case',
      unsupportedFlag: '--kernel-memcg-notification',
    },
  });

const int32Schema = integerSchema(-(2 ** 31), 2 ** 31 - 1);

/** Settings for the termination of pods when the host shuts down. */
const shutdownSettings = () =>
  declareSettings({
    shutdownGracePeriod: {
      type: durationSchema(),
      default: '0s',
      effect:
        'the time by which the node delays the shutdown of its host, so that pods terminate (default `{default}`, no delay)',
    },
    shutdownGracePeriodCriticalPods: {
      type: durationSchema(),
      default: '0s',
      effect: 'the part of `shutdownGracePeriod` that is reserved for critical pods, which terminate last',
    },
    shutdownGracePeriodByPodPriority: {
      type: listSchema(
        sectionSchema({ priority: int32Schema, shutdownGracePeriodSeconds: integerSchema(0, Number.MAX_SAFE_INTEGER) }),
      ),
      effect:
        'instead of the other two, the time in seconds for the pods from each priority on, which terminate in this order',
    },
  });

/** Settings for terminating pods in order to protect the node. */
export const pressureSettings = () => ({ ...evictionSettings(), ...shutdownSettings() });

type PressureFields = FieldsOf<ReturnType<typeof pressureSettings>>;

const SECOND_MS = 1_000;
const isZeroOrAtLeastOneSecond = (durationMs = 0): boolean => durationMs === 0 || durationMs >= SECOND_MS;

export const pressureRules: readonly ConfigRule<PressureFields>[] = [
  createRule('shutdownGracePeriod', 'must be 0 or at least 1s', (config) =>
    isZeroOrAtLeastOneSecond(config.shutdownGracePeriod),
  ),
  createRule('shutdownGracePeriodCriticalPods', 'must be 0 or at least 1s', (config) => {
    return isZeroOrAtLeastOneSecond(config.shutdownGracePeriodCriticalPods);
  }),
  createRule('shutdownGracePeriodCriticalPods', 'must not be longer than shutdownGracePeriod', (config) => {
    return (config.shutdownGracePeriodCriticalPods ?? 0) <= (config.shutdownGracePeriod ?? 0);
  }),
  createRule('shutdownGracePeriodByPodPriority', 'must not be set together with shutdownGracePeriod', (config) => {
    const {
      shutdownGracePeriodByPodPriority: byPriority = [],
      shutdownGracePeriod,
      shutdownGracePeriodCriticalPods,
    } = config;
    return byPriority.length === 0 || !(shutdownGracePeriod || shutdownGracePeriodCriticalPods);
  }),
  createRule(
    'evictionSoftGracePeriod',
    'must have each signal of evictionSoft',
    ({ evictionSoft = {}, evictionSoftGracePeriod = {} }) => {
      return Object.keys(evictionSoft).every((signal) => Object.hasOwn(evictionSoftGracePeriod, signal));
    },
  ),
];
