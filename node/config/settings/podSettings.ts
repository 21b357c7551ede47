import * as z from 'zod/mini';
import { countIdRanges } from '../../../host/pods/userNamespaces.ts';
import { parseQuantity } from '../../../kubernetes/api/quantity.ts';
import { labelsFlag, sysctlPattern, sysctlsFlag } from '../admissionFields.ts';
import { boolean, duration, fromText, list, map, oneOf, whole } from '../fields.ts';
import { type Rule, rule } from './rule.ts';
import { declareSettings, type FieldsOf } from './setting.ts';

const MAX_PODS = 110;

/** Settings that determine which pods the node admits. */
export const admissionSettings = () =>
  declareSettings({
    maxPods: {
      type: whole(),
      default: MAX_PODS,
      effect: 'how many pods are admitted ({default})',
      flag: {
        name: '--max-pods',
        argument: '<number>',
        type: fromText(whole()),
        help: 'maximum number of pods on the node (default: {default})',
      },
    },
    podsPerCore: {
      type: whole(),
      default: 0,
      effect: 'how many pods are admitted for each core (no limit)',
      missingFlag: '--pods-per-core',
    },
    '--node-labels': {
      type: labelsFlag,
      default: '',
      flag: { argument: '<labels>', help: 'labels to add to the node, as zone=a,disk=ssd' },
    },
    allowedUnsafeSysctls: {
      type: list(sysctlPattern),
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

const secondTo5Minutes = duration(1000, 300_000, ' between 1s and 5m');

/** Settings that apply to all containers. */
export const containerSettings = () =>
  declareSettings({
    podPidsLimit: {
      type: whole(-1, Number.MAX_SAFE_INTEGER),
      default: -1,
      keepsZero: true,
      effect: 'how many processes a pod may have (no limit)',
      missingFlag: '--pod-max-pids',
    },
    cpuCFSQuota: {
      type: boolean,
      default: true,
      keepsZero: true,
      effect: 'whether CPU limits are enforced ({default})',
      missingFlag: '--cpu-cfs-quota',
    },
    cpuCFSQuotaPeriod: {
      type: duration(1, 1000, ' between 1ms and 1s'),
      default: '100ms',
      keepsZero: true,
      effect: 'the period of that quota ({default})',
      missingFlag: '--cpu-cfs-quota-period',
    },
    singleProcessOOMKill: {
      type: boolean,
      keepsZero: true,
      effect: 'whether an OOM kill ends one process or the whole container',
    },
    memorySwap: {
      effect: "`swapBehavior: LimitedSwap` gives Burstable pods their share of the node's swap on cgroup v2",
      fields: { swapBehavior: { type: oneOf('', 'NoSwap', 'LimitedSwap') } },
    },
    seccompDefault: {
      type: boolean,
      default: false,
      keepsZero: true,
      effect: "the runtime's seccomp profile for containers that name none",
      missingFlag: '--seccomp-default',
    },
    userNamespaces: {
      hidesDefault: true,
      effect: '`idsPerPod`: how many users a pod with `hostUsers: false` has ({idsPerPod})',
      fields: {
        idsPerPod: { type: whole(65_536, 2 ** 32 - 1), default: 65_536, keepsZero: true, hidesDefault: true },
      },
    },
    crashLoopBackOff: {
      effect: '`maxContainerRestartPeriod`: the longest wait between two runs ({maxContainerRestartPeriod})',
      fields: { maxContainerRestartPeriod: { type: secondTo5Minutes, default: '5m', keepsZero: true } },
    },
    volumeStatsAggPeriod: {
      type: duration(),
      default: '1m',
      effect: 'how often the size of a volume is counted at most, for `/stats/summary` ({default})',
      missingFlag: '--volume-stats-agg-period',
    },
    featureGates: {
      type: map(boolean),
      effect:
        '`ClusterTrustBundleProjection`, with `ClusterTrustBundle`: volumes show the trust anchors of the cluster (off); `ContainerCheckpoint`: `/checkpoint` is served (on); `PodLogsQuerySplitStreams`: one stream of a log can be asked for (off)',
      missingFlag: '--feature-gates',
    },
  });

type PodFields = FieldsOf<ReturnType<typeof admissionSettings>> & FieldsOf<ReturnType<typeof containerSettings>>;

export const podRules: readonly Rule<PodFields>[] = [
  rule('userNamespaces', 'idsPerPod must be a multiple of 65536', ({ userNamespaces }) => {
    return (userNamespaces?.idsPerPod ?? 0) % 65_536 === 0;
  }),
  rule('maxPods', 'must not exceed the number of ID ranges of userNamespaces.idsPerPod IDs', (config) => {
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
const limitFlag = fromText(whole(-(2 ** 31)));

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
      missingFlag: '--container-log-max-size',
    },
    containerLogMaxFiles: {
      type: whole(2),
      default: 5,
      keepsZero: true,
      effect: 'how many files of a log are kept ({default})',
      missingFlag: '--container-log-max-files',
    },
    containerLogMaxWorkers: {
      type: whole(1),
      default: 1,
      keepsZero: true,
      effect: 'how many logs are rotated at a time ({default})',
    },
    containerLogMonitorInterval: {
      type: duration(3000, Number.POSITIVE_INFINITY, ' of at least 3s'),
      default: '10s',
      keepsZero: true,
      effect: 'how often the size of logs is looked at ({default})',
    },
  });
