import * as z from 'zod/mini';
import { parseDuration } from '../../../kubernetes/api/parseDuration.ts';
import { parseQuantity } from '../../../kubernetes/api/quantity.ts';
import { boolean, duration, list, section, type text, textLike, whole } from '../fields.ts';
import { type Rule, rule } from './rule.ts';
import { declareSettings, type FieldsOf } from './setting.ts';

/** The eviction signals of the kubelet. */
const SIGNALS = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
] as const;

/** Creates the schema of a map with an optional entry for each eviction signal. */
const bySignal = (kind: typeof text) =>
  section(Object.fromEntries(SIGNALS.map((signal) => [signal, z.optional(kind)])), 'eviction signal');

/** Schema of an eviction threshold. The kubelet accepts 0 only as a percentage. */
const line = z.custom<string>((value) => typeof value === 'string' && isLine(value), {
  error: 'expected a quantity above 0 such as "100Mi", or a percentage such as "10%"',
});

function isLine(value: string): boolean {
  if (value.endsWith('%')) return /^\d+(\.\d+)?%$/.test(value) && Number.parseFloat(value) <= 100;
  return (parseQuantity(value) ?? 0n) > 0n;
}

const grace = textLike('a duration such as "1m30s"', (value) => parseDuration(value) !== undefined);
const reclaim = textLike('a quantity such as "500Mi", or a percentage such as "5%"', (value) =>
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

const NO_EVICTION = 'nothing is evicted yet';

/** Settings for the eviction of pods from a node that runs out of resources. */
const eviction = () =>
  declareSettings({
    evictionHard: {
      type: bySignal(line),
      default: DEFAULT_EVICTION_HARD,
      hidesDefault: true,
      effect: '`memory.available` and `nodefs.available` are kept from pods; nothing is evicted yet',
      missingFlag: '--eviction-hard',
    },
    mergeDefaultEvictionSettings: {
      type: boolean,
      default: false,
      keepsZero: true,
      effect: 'whether the default thresholds hold where `evictionHard` names none',
    },
    evictionSoft: { type: bySignal(line), ignored: NO_EVICTION, missingFlag: '--eviction-soft' },
    evictionSoftGracePeriod: {
      type: bySignal(grace),
      ignored: NO_EVICTION,
      missingFlag: '--eviction-soft-grace-period',
    },
    evictionPressureTransitionPeriod: {
      type: duration(),
      default: '5m',
      ignored: NO_EVICTION,
      missingFlag: '--eviction-pressure-transition-period',
    },
    evictionMaxPodGracePeriod: { type: whole(), ignored: NO_EVICTION, missingFlag: '--eviction-max-pod-grace-period' },
    evictionMinimumReclaim: {
      type: bySignal(reclaim),
      ignored: NO_EVICTION,
      missingFlag: '--eviction-minimum-reclaim',
    },
    kernelMemcgNotification: { type: boolean, ignored: NO_EVICTION, missingFlag: '--kernel-memcg-notification' },
  });

const NO_SHUTDOWN = 'the shutdown of the host is not followed yet';
const int32 = whole(-(2 ** 31), 2 ** 31 - 1);

/** Settings for the termination of pods when the host shuts down. */
const shutdown = () =>
  declareSettings({
    shutdownGracePeriod: { type: duration(), default: '0s', ignored: NO_SHUTDOWN },
    shutdownGracePeriodCriticalPods: { type: duration(), default: '0s', ignored: NO_SHUTDOWN },
    shutdownGracePeriodByPodPriority: {
      type: list(section({ priority: int32, shutdownGracePeriodSeconds: whole(0, Number.MAX_SAFE_INTEGER) })),
      ignored: NO_SHUTDOWN,
    },
  });

/** Settings for terminating pods in order to protect the node. */
export const pressureSettings = () => ({ ...eviction(), ...shutdown() });

type PressureFields = FieldsOf<ReturnType<typeof pressureSettings>>;

const SECOND_MS = 1_000;
const isZeroOrASecond = (durationMs = 0): boolean => durationMs === 0 || durationMs >= SECOND_MS;

export const pressureRules: readonly Rule<PressureFields>[] = [
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
