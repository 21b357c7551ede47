import * as z from 'zod/mini';
import { countIdRanges } from '../../../host/pods/userNamespaces.ts';
import { parseQuantity } from '../../../kubernetes/api/values/quantity.ts';
import { labelsFlagSchema, sysctlPatternSchema, sysctlsFlagSchema } from '../fields/admissionFields.ts';
import {
  booleanSchema,
  durationSchema,
  enumSchema,
  integerSchema,
  listSchema,
  mapSchema,
  parsedNumberSchema,
} from '../fields/fields.ts';
import { type ConfigRule, createRule } from './rule.ts';
import { declareSettings, type FieldsOf } from './setting.ts';

const MAX_PODS = 110;

/** Settings that determine which pods the node admits. */
export const admissionSettings = () =>
  declareSettings({
    maxPods: {
      type: integerSchema(),
      default: MAX_PODS,
      effect: 'the maximum number of pods on the node ({default})',
      flag: {
        name: '--max-pods',
        argument: '<number>',
        type: parsedNumberSchema(integerSchema()),
        help: 'maximum number of pods on the node (default: {default})',
      },
    },
    podsPerCore: {
      type: integerSchema(),
      default: 0,
      effect: 'the maximum number of pods per core (no limit)',
      unsupportedFlag: '--pods-per-core',
    },
    '--node-labels': {
      type: labelsFlagSchema,
      default: '',
      flag: { argument: '<labels>', help: 'labels to add when registering the node, e.g. zone=a,disk=ssd' },
    },
    allowedUnsafeSysctls: {
      type: listSchema(sysctlPatternSchema),
      default: [],
      effect: 'the unsafe sysctls, or patterns of them, that pods may set',
      flag: {
        name: '--allowed-unsafe-sysctls',
        argument: '<names>',
        type: sysctlsFlagSchema,
        help: 'unsafe sysctls or patterns that pods may set, e.g. net.core.*',
      },
    },
  });

const maxRestartPeriodSchema = durationSchema(1000, 300_000, ' between 1s and 5m');

/** Settings that apply to all containers. */
export const containerSettings = () =>
  declareSettings({
    podPidsLimit: {
      type: integerSchema(-1, Number.MAX_SAFE_INTEGER),
      default: -1,
      allowsZeroValue: true,
      effect: 'the maximum number of processes per pod (no limit)',
      unsupportedFlag: '--pod-max-pids',
    },
    cpuCFSQuota: {
      type: booleanSchema,
      default: true,
      allowsZeroValue: true,
      effect: 'whether CPU limits are enforced ({default})',
      unsupportedFlag: '--cpu-cfs-quota',
    },
    cpuCFSQuotaPeriod: {
      type: durationSchema(1, 1000, ' between 1ms and 1s'),
      default: '100ms',
      allowsZeroValue: true,
      effect: 'the period of the CPU CFS quota ({default})',
      unsupportedFlag: '--cpu-cfs-quota-period',
    },
    singleProcessOOMKill: {
      type: booleanSchema,
      allowsZeroValue: true,
      effect: 'whether the OOM killer kills single processes instead of all processes of a container',
    },
    '--report-process-oom-kills': {
      type: booleanSchema,
      default: false,
      flag: {
        help: 'record an event when the OOM killer has killed a process of a container that continues to run',
      },
    },
    memorySwap: {
      effect: "`swapBehavior: LimitedSwap` lets Burstable pods use a share of the node's swap on cgroup v2",
      fields: { swapBehavior: { type: enumSchema('', 'NoSwap', 'LimitedSwap') } },
    },
    seccompDefault: {
      type: booleanSchema,
      default: false,
      allowsZeroValue: true,
      effect: 'whether containers without a seccomp profile use the default profile of the runtime',
      unsupportedFlag: '--seccomp-default',
    },
    userNamespaces: {
      hidesDefault: true,
      effect: '`idsPerPod`: the number of user IDs of a pod with `hostUsers: false` ({idsPerPod})',
      fields: {
        idsPerPod: {
          type: integerSchema(65_536, 2 ** 32 - 1),
          default: 65_536,
          allowsZeroValue: true,
          hidesDefault: true,
        },
      },
    },
    crashLoopBackOff: {
      effect: '`maxContainerRestartPeriod`: the maximum restart back-off of a container ({maxContainerRestartPeriod})',
      fields: { maxContainerRestartPeriod: { type: maxRestartPeriodSchema, default: '5m', allowsZeroValue: true } },
    },
    volumeStatsAggPeriod: {
      type: durationSchema(),
      default: '1m',
      effect: "the minimum interval between two measurements of a volume's usage for `/stats/summary` ({default})",
      unsupportedFlag: '--volume-stats-agg-period',
    },
    featureGates: {
      type: mapSchema(booleanSchema),
      effect:
        '`ClusterTrustBundleProjection`, with `ClusterTrustBundle`: volumes can project the trust anchors of the cluster (off); `ContainerCheckpoint`: `/checkpoint` is served (on); `KubeletPodResourcesListUseActivePods`: the pod-resources API omits terminated pods from its list (on); `PodLogsQuerySplitStreams`: clients can request a single stream of a log (off); `ResourceHealthStatus`: the statuses of containers contain the health of their devices (on); `ResourceHealthStatusMessage`, with `ResourceHealthStatus`: they contain the messages of DRA drivers about it (on)',
      unsupportedFlag: '--feature-gates',
    },
  });

type PodFields = FieldsOf<ReturnType<typeof admissionSettings>> & FieldsOf<ReturnType<typeof containerSettings>>;

export const podRules: readonly ConfigRule<PodFields>[] = [
  createRule('userNamespaces', 'idsPerPod must be a multiple of 65536', ({ userNamespaces }) => {
    return (userNamespaces?.idsPerPod ?? 0) % 65_536 === 0;
  }),
  createRule('maxPods', 'must not exceed the number of ID ranges of userNamespaces.idsPerPod IDs', (config) => {
    return (config.maxPods || MAX_PODS) <= countIdRanges(config.userNamespaces?.idsPerPod || undefined);
  }),
];

const logSizeSchema = z.custom<string | number>(
  (value) =>
    value === '' ||
    ((typeof value === 'string' || typeof value === 'number') && parseQuantity(String(value)) !== undefined),
  { error: 'expected a quantity such as "10Mi", or a negative one for no limit' },
);

/** Schema of a flag whose value is a limit. A negative number means no limit. */
const limitFlagSchema = parsedNumberSchema(integerSchema(-(2 ** 31)));

/** Settings for the removal of dead containers, and for the logs of running containers. */
export const housekeepingSettings = () =>
  declareSettings({
    '--maximum-dead-containers-per-container': {
      type: limitFlagSchema,
      default: 1,
      flag: {
        argument: '<number>',
        help: 'maximum number of old instances to retain per container; a negative number means no limit (default: {default})',
      },
    },
    '--maximum-dead-containers': {
      type: limitFlagSchema,
      default: -1,
      flag: {
        argument: '<number>',
        help: 'maximum number of old instances of containers to retain on the node; a negative number means no limit (default: {default})',
      },
    },
    '--minimum-container-ttl-duration': {
      type: durationSchema(),
      default: '0s',
      flag: {
        argument: '<duration>',
        help: 'minimum age of an old instance of a container before it is removed (default: {default})',
      },
    },
    containerLogMaxSize: {
      type: logSizeSchema,
      default: '10Mi',
      effect: 'the size at which a container log is rotated ({default})',
      unsupportedFlag: '--container-log-max-size',
    },
    containerLogMaxFiles: {
      type: integerSchema(2),
      default: 5,
      allowsZeroValue: true,
      effect: 'the maximum number of log files per container ({default})',
      unsupportedFlag: '--container-log-max-files',
    },
    containerLogMaxWorkers: {
      type: integerSchema(1),
      default: 1,
      allowsZeroValue: true,
      effect: 'the maximum number of concurrent log rotations ({default})',
    },
    containerLogMonitorInterval: {
      type: durationSchema(3000, Number.POSITIVE_INFINITY, ' of at least 3s'),
      default: '10s',
      allowsZeroValue: true,
      effect: 'the interval at which the sizes of logs are checked ({default})',
    },
  });
