/**
 * The configuration at `/configz`: the kubelet's defaults (`SetDefaults_KubeletConfiguration` in
 * `pkg/kubelet/apis/config/v1beta1/defaults.go`), replaced by the fields of the file, replaced by the values in effect.
 */
import { withoutSecrets } from '../../actors/sources/http/urlSecrets.ts';
import { goDuration } from '../../base/duration.ts';
import { parseDuration } from '../../kubernetes/api/parseDuration.ts';
import type { NodeConfig } from './nodeConfig.ts';

type Fields = Readonly<Record<string, unknown>>;

const DEFAULTS: Fields = {
  kind: 'KubeletConfiguration',
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  enableServer: true,
  syncFrequency: '1m',
  fileCheckFrequency: '20s',
  httpCheckFrequency: '20s',
  authentication: {
    x509: {},
    anonymous: { enabled: false },
    webhook: { enabled: true, cacheTTL: '2m' },
  },
  authorization: { mode: 'Webhook', webhook: { cacheAuthorizedTTL: '5m', cacheUnauthorizedTTL: '30s' } },
  registryPullQPS: 5,
  registryBurst: 10,
  eventRecordQPS: 50,
  eventBurst: 100,
  imagePullCredentialsVerificationPolicy: 'NeverVerifyPreloadedImages',
  enableDebuggingHandlers: true,
  healthzPort: 10248,
  healthzBindAddress: '127.0.0.1',
  oomScoreAdj: -999,
  streamingConnectionIdleTimeout: '4h',
  nodeStatusUpdateFrequency: '10s',
  nodeStatusReportFrequency: '5m',
  nodeLeaseDurationSeconds: 40,
  imageMinimumGCAge: '2m',
  imageMaximumGCAge: '0s',
  imageGCHighThresholdPercent: 85,
  imageGCLowThresholdPercent: 80,
  volumeStatsAggPeriod: '1m',
  cgroupsPerQOS: true,
  cgroupDriver: 'cgroupfs',
  cpuManagerPolicy: 'none',
  cpuManagerReconcilePeriod: '10s',
  memoryManagerPolicy: 'None',
  topologyManagerPolicy: 'none',
  topologyManagerScope: 'container',
  runtimeRequestTimeout: '2m',
  hairpinMode: 'promiscuous-bridge',
  maxPods: 110,
  podPidsLimit: -1,
  resolvConf: '/etc/resolv.conf',
  cpuCFSQuota: true,
  cpuCFSQuotaPeriod: '100ms',
  nodeStatusMaxImages: 50,
  maxOpenFiles: 1_000_000,
  contentType: 'application/vnd.kubernetes.protobuf',
  kubeAPIQPS: 50,
  kubeAPIBurst: 100,
  evictionPressureTransitionPeriod: '5m',
  mergeDefaultEvictionSettings: false,
  enableControllerAttachDetach: true,
  makeIPTablesUtilChains: true,
  iptablesMasqueradeBit: 14,
  iptablesDropBit: 15,
  containerLogMaxSize: '10Mi',
  containerLogMaxFiles: 5,
  containerLogMaxWorkers: 1,
  memorySwap: {},
  containerLogMonitorInterval: '10s',
  configMapAndSecretChangeDetectionStrategy: 'Watch',
  enforceNodeAllocatable: ['pods'],
  enableSystemLogHandler: true,
  enableProfilingHandler: true,
  volumePluginDir: '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/',
  enableDebugFlagsHandler: true,
  logging: {
    format: 'text',
    flushFrequency: '5s',
    verbosity: 0,
    options: { text: { infoBufferSize: '0' }, json: { infoBufferSize: '0' } },
  },
  shutdownGracePeriod: '0s',
  shutdownGracePeriodCriticalPods: '0s',
  crashLoopBackOff: { maxContainerRestartPeriod: '5m' },
  memoryThrottlingFactor: 0.9,
  memoryReservationPolicy: 'None',
  localStorageCapacityIsolation: true,
};

/**
 * Fields that a kubelet shows with their zero value as well, because Go has a pointer for them or no `omitempty`
 * (`staging/src/k8s.io/kubelet/config/v1beta1/types.go`). It leaves out every other field that is empty.
 */
const SHOWN_WHEN_EMPTY: ReadonlySet<string> = new Set([
  'cgroupsPerQOS',
  'containerLogMaxFiles',
  'containerLogMaxWorkers',
  'containerLogMonitorInterval',
  'cpuCFSQuota',
  'cpuCFSQuotaPeriod',
  'enableControllerAttachDetach',
  'enableDebugFlagsHandler',
  'enableDebuggingHandlers',
  'enableProfilingHandler',
  'enableServer',
  'enableSystemLogHandler',
  'enableSystemLogQuery',
  'enabled',
  'eventRecordQPS',
  'failCgroupV1',
  'failSwapOn',
  'flushFrequency',
  'healthzPort',
  'idsPerPod',
  'imageGCHighThresholdPercent',
  'imageGCLowThresholdPercent',
  'iptablesDropBit',
  'iptablesMasqueradeBit',
  'kubeAPIQPS',
  'localStorageCapacityIsolation',
  'makeIPTablesUtilChains',
  'maxContainerRestartPeriod',
  'maxParallelImagePulls',
  'memoryThrottlingFactor',
  'mergeDefaultEvictionSettings',
  'nodeStatusMaxImages',
  'oomScoreAdj',
  'podPidsLimit',
  'registerNode',
  'registryPullQPS',
  'resolvConf',
  'seccompDefault',
  'serializeImagePulls',
  'singleProcessOOMKill',
  'verbosity',
]);

/** Sections, to whose fields the same rule applies. They are shown when they are empty, unlike maps with the user's own keys. */
const SECTIONS: ReadonlySet<string> = new Set([
  'anonymous',
  'authentication',
  'authorization',
  'crashLoopBackOff',
  'json',
  'logging',
  'memorySwap',
  'options',
  'text',
  'userNamespaces',
  'webhook',
  'x509',
]);

/** Durations. Values of other fields may look like one. */
const DURATION = /(Frequency|Timeout|TTL|Age|Period|Interval|PeriodCriticalPods)$/;

/** Returns the whole configuration without its secrets. */
export function kubeletConfigurationOf(config: NodeConfig): Fields {
  const { file } = config.given;
  const pulls =
    Number(file.maxParallelImagePulls ?? 1) < 2 ? { serializeImagePulls: true } : { serializeImagePulls: false };
  const all = merged(merged(merged(DEFAULTS, pulls), withoutEmpty(file)), inEffect(config));
  const { staticPodURLHeader: headers, staticPodURL: url, ...rest } = all;
  return written(
    withoutEmpty({
      ...rest,
      ...(typeof url === 'string' ? { staticPodURL: withoutSecrets(url) } : {}),
      ...(isFields(headers) ? { staticPodURLHeader: masked(headers) } : {}),
    }),
  );
}

/** Drops the fields that Go's encoder drops, which are also the ones that a kubelet replaces by their defaults. */
function withoutEmpty(fields: Fields): Fields {
  const entries = Object.entries(fields).flatMap(([name, value]): readonly (readonly [string, unknown])[] => {
    if (value === null || value === undefined) return [];
    if (isFields(value)) {
      if (SECTIONS.has(name)) return [[name, withoutEmpty(value)]];
      return Object.keys(value).length > 0 ? [[name, value]] : [];
    }
    const isEmpty = value === '' || value === 0 || value === false || (Array.isArray(value) && value.length === 0);
    return isEmpty && !SHOWN_WHEN_EMPTY.has(name) ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

/** Returns the fields whose values depend on flags, the host or this version. */
function inEffect(config: NodeConfig): Fields {
  const { serving, healthz, cluster, staticPodPath, podsPerCore, maxPods, podLogsDirectory: podLogsDir } = config;
  return {
    podLogsDir,
    maxPods,
    podsPerCore,
    resolvConf: config.resolvConf,
    seccompDefault: config.seccompDefault,
    containerRuntimeEndpoint: config.containerRuntimeEndpoint,
    cgroupDriver: config.cgroupDriver,
    failSwapOn: config.failSwapOn,
    failCgroupV1: config.failCgroupV1,
    enableServer: serving !== undefined,
    healthzPort: healthz?.port ?? 0,
    ...(healthz ? { healthzBindAddress: healthz.host } : {}),
    ...(staticPodPath === undefined ? {} : { staticPodPath }),
    ...separateImageService(config),
    registerNode: cluster?.registersNode ?? false,
    logging: { format: config.logging.format, verbosity: config.logging.verbosity },
    ...(cluster
      ? { rotateCertificates: cluster.certificates.rotates, serverTLSBootstrap: cluster.certificates.serves }
      : {}),
    ...(serving ? servingInEffect(serving) : {}),
  };
}

/** The endpoint of the image service, which a kubelet leaves empty if the runtime serves the images too. */
const separateImageService = ({ imageServiceEndpoint, containerRuntimeEndpoint }: NodeConfig): Fields =>
  imageServiceEndpoint === containerRuntimeEndpoint ? {} : { imageServiceEndpoint };

function servingInEffect({ host, port, readOnlyPort, ...serving }: NonNullable<NodeConfig['serving']>): Fields {
  const { authentication, authorization, clientCaFile, pair, switches } = serving;
  const { webhook, isAnonymousAllowed } = authentication;
  return {
    address: host,
    port,
    ...(readOnlyPort === undefined ? {} : { readOnlyPort }),
    ...(pair ? { tlsCertFile: pair.certFile, tlsPrivateKeyFile: pair.keyFile } : {}),
    authentication: {
      x509: clientCaFile === undefined ? {} : { clientCAFile: clientCaFile },
      webhook: { enabled: webhook !== undefined },
      anonymous: { enabled: isAnonymousAllowed },
    },
    authorization: { mode: authorization.mode },
    enableDebuggingHandlers: switches.debugging,
    enableSystemLogHandler: switches.systemLogs,
    enableProfilingHandler: switches.profiling,
    enableDebugFlagsHandler: switches.debugFlags,
    enableSystemLogQuery: serving.hasLogQuery,
  };
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Merges two values. Maps are merged field by field, and any other value of `second` replaces that of `first`. */
function merged(one: Fields, other: Fields): Fields {
  const fields = new Map(Object.entries(one));
  for (const [name, value] of Object.entries(other)) {
    const before = fields.get(name);
    fields.set(name, isFields(before) && isFields(value) ? merged(before, value) : value);
  }
  return Object.fromEntries(fields);
}

const masked = (headers: Fields): Fields =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, ['<masked>']]));

/** Formats durations as Go does. */
function written(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (isFields(value)) return [name, written(value)];
      const ms = typeof value === 'string' && DURATION.test(name) ? parseDuration(value) : undefined;
      return [name, ms === undefined ? value : goDuration(ms)];
    }),
  );
}
