import * as z from 'zod/mini';
import { countIdRanges } from '../../../host/pods/userNamespaces.ts';
import { parseQuantity } from '../../../kubernetes/api/quantity.ts';
import { labelsFlag, sysctlPattern, sysctlsFlag } from '../admissionFields.ts';
import {
  booleanSchema,
  durationSchema,
  enumSchema,
  integerSchema,
  listSchema,
  map,
  parsedNumberSchema,
} from '../fields.ts';
import { type ConfigRule, createRule } from './rule.ts';
import { declareSettings, type FieldsOf } from './setting.ts';

const MAX_PODS = 110;

/** Settings that determine which pods the node admits. */
export const admissionSettings = () =>
  declareSettings({
    maxPods: {
      type: integerSchema(),
      default: MAX_PODS,
      effect: 'how many pods are admitted ({default})',
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
      effect: 'how many pods are admitted for each core (no limit)',
      unsupportedFlag: '--pods-per-core',
    },
    '--node-labels': {
      type: labelsFlag,
      default: '',
      flag: { argument: '<labels>', help: 'labels to add to the node, as zone=a,disk=ssd' },
    },
    allowedUnsafeSysctls: {
      type: listSchema(sysctlPattern),
      default: [],
      effect: 'sysctls that pods may set beside the safe ones',
      flag: {
        name: '--allowed-unsafe-sysctls',
        argument: '<names>',
        type: sysctlsFlag,
        help: 'unsafe sysctls that pods may set, as net.core.*',
      },
    },
  });

const secondTo5Minutes = durationSchema(1000, 300_000, ' between 1s and 5m');

/** Settings that apply to all containers. */
export const containerSettings = () =>
  declareSettings({
    podPidsLimit: {
      type: integerSchema(-1, Number.MAX_SAFE_INTEGER),
      default: -1,
      allowsZeroValue: true,
      effect: 'how many processes a pod may have (no limit)',
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
      effect: 'the period of that quota ({default})',
      unsupportedFlag: '--cpu-cfs-quota-period',
    },
    singleProcessOOMKill: {
      type: booleanSchema,
      allowsZeroValue: true,
      effect: 'whether an OOM kill ends one process or the whole container',
    },
    memorySwap: {
      effect: "`swapBehavior: LimitedSwap` gives Burstable pods their share of the node's swap on cgroup v2",
      fields: { swapBehavior: { type: enumSchema('', 'NoSwap', 'LimitedSwap') } },
    },
    seccompDefault: {
      type: booleanSchema,
      default: false,
      allowsZeroValue: true,
      effect: "the runtime's seccomp profile for containers that name none",
      unsupportedFlag: '--seccomp-default',
    },
    userNamespaces: {
      hidesDefault: true,
      effect: '`idsPerPod`: how many users a pod with `hostUsers: false` has ({idsPerPod})',
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
      effect: '`maxContainerRestartPeriod`: the longest wait between two runs ({maxContainerRestartPeriod})',
      fields: { maxContainerRestartPeriod: { type: secondTo5Minutes, default: '5m', allowsZeroValue: true } },
    },
    volumeStatsAggPeriod: {
      type: durationSchema(),
      default: '1m',
      effect: 'how often the size of a volume is counted at most, for `/stats/summary` ({default})',
      unsupportedFlag: '--volume-stats-agg-period',
    },
    featureGates: {
      type: map(booleanSchema),
      effect:
        '`ClusterTrustBundleProjection`, with `ClusterTrustBundle`: volumes show the trust anchors of the cluster (off); `ContainerCheckpoint`: `/checkpoint` is served (on); `PodLogsQuerySplitStreams`: one stream of a log can be asked for (off)',
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

const logSize = z.custom<string | number>(
  (value) =>
    value === '' ||
    ((typeof value === 'string' || typeof value === 'number') && parseQuantity(String(value)) !== undefined),
  { error: 'expected a quantity such as "10Mi", or a negative one for no limit' },
);

/** Schema of a limit. A negative number means no limit. */
const limitFlag = parsedNumberSchema(integerSchema(-(2 ** 31)));

/** Settings for the removal of dead containers and the logs of running ones. */
export const housekeepingSettings = () =>
  declareSettings({
    '--maximum-dead-containers-per-container': {
      type: limitFlag,
      default: 1,
      flag: {
        argument: '<number>',
        help: 'old instances to keep of each container, for their logs; negative: no limit (default: {default})',
      },
    },
    '--maximum-dead-containers': {
      type: limitFlag,
      default: -1,
      flag: {
        argument: '<number>',
        help: 'old instances of containers to keep on the node; negative: no limit (default: {default})',
      },
    },
    containerLogMaxSize: {
      type: logSize,
      default: '10Mi',
      effect: 'when the log of a running container is rotated ({default})',
      unsupportedFlag: '--container-log-max-size',
    },
    containerLogMaxFiles: {
      type: integerSchema(2),
      default: 5,
      allowsZeroValue: true,
      effect: 'how many files of a log are kept ({default})',
      unsupportedFlag: '--container-log-max-files',
    },
    containerLogMaxWorkers: {
      type: integerSchema(1),
      default: 1,
      allowsZeroValue: true,
      effect: 'how many logs are rotated at a time ({default})',
    },
    containerLogMonitorInterval: {
      type: durationSchema(3000, Number.POSITIVE_INFINITY, ' of at least 3s'),
      default: '10s',
      allowsZeroValue: true,
      effect: 'how often the size of logs is looked at ({default})',
    },
  });
