/** The configuration at `/configz`. */
import { expect, test } from '@jest/globals';
import { createKubeletConfiguration } from '../../../node/config/configz.ts';
import { parseConfigFile } from '../../../node/config/files/readFile.ts';
import { readFlags } from '../../../node/config/flags.ts';
import { compileConfig } from '../../../node/config/nodeConfig.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const defaults = { hostname: 'h', addresses: ['192.0.2.1'], rootDirectory: '/r', podLogsDirectory: '/var/log/pods' };
const shown = (flags: Record<string, string | boolean> = {}, yaml = '') =>
  createKubeletConfiguration(
    compileConfig({ flags: readFlags(flags), file: parseConfigFile('/etc/k.yaml', head + yaml), defaults }),
  );

test('/configz shows the defaults of a kubelet, with durations as Go writes them', () => {
  expect(shown({ '--kubeconfig': '/k' })).toMatchObject({
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    address: '0.0.0.0',
    port: 10_250,
    syncFrequency: '1m0s',
    runtimeRequestTimeout: '2m0s',
    streamingConnectionIdleTimeout: '4h0m0s',
    cpuCFSQuotaPeriod: '100ms',
    containerLogMaxSize: '10Mi',
    maxPods: 110,
    serializeImagePulls: true,
    authentication: { webhook: { enabled: true, cacheTTL: '2m0s' }, anonymous: { enabled: false } },
    authorization: { mode: 'Webhook', webhook: { cacheAuthorizedTTL: '5m0s', cacheUnauthorizedTTL: '30s' } },
  });
});

test('/configz shows the values of the file, and flags override them', () => {
  const yaml =
    'syncFrequency: 90s\nmaxPods: 20\nlogging: {verbosity: 3}\nevictionHard: {memory.available: 5%}\nport: 1';
  expect(shown({ '--max-pods': '30', '--port': '2' }, yaml)).toMatchObject({
    syncFrequency: '1m30s',
    maxPods: 30,
    evictionHard: { 'memory.available': '5%' },
    port: 2,
    logging: { format: 'text', flushFrequency: '5s', verbosity: 3 },
  });
});

test('/configz contains no secret from the manifest URL in the file', () => {
  const yaml =
    'staticPodURL: https://user:secret@example.com/pods?token=secret\nstaticPodURLHeader: {Authorization: [secret]}';
  const all = shown({}, yaml);
  expect(JSON.stringify(all)).not.toContain('secret');
  expect(all).toMatchObject({ staticPodURLHeader: { Authorization: ['<masked>'] } });
});

/** The fields that kubelet 1.36 shows for an empty file, except those whose values depend on the node. */
const SHOWN_BY_DEFAULT = [
  'address apiVersion authentication authorization cgroupDriver cgroupsPerQOS configMapAndSecretChangeDetectionStrategy',
  'containerLogMaxFiles containerLogMaxSize containerLogMaxWorkers containerLogMonitorInterval containerRuntimeEndpoint',
  'contentType cpuCFSQuota cpuCFSQuotaPeriod cpuManagerPolicy cpuManagerReconcilePeriod crashLoopBackOff',
  'enableControllerAttachDetach enableDebugFlagsHandler enableDebuggingHandlers enableProfilingHandler enableServer',
  'enableSystemLogHandler enableSystemLogQuery enforceNodeAllocatable eventBurst eventRecordQPS',
  'evictionPressureTransitionPeriod failCgroupV1 failSwapOn fileCheckFrequency hairpinMode healthzBindAddress',
  'healthzPort httpCheckFrequency imageGCHighThresholdPercent imageGCLowThresholdPercent imageMaximumGCAge',
  'imageMinimumGCAge imagePullCredentialsVerificationPolicy iptablesDropBit iptablesMasqueradeBit kind kubeAPIBurst',
  'kubeAPIQPS localStorageCapacityIsolation logging makeIPTablesUtilChains maxOpenFiles maxPods memoryManagerPolicy',
  'memoryReservationPolicy memorySwap memoryThrottlingFactor mergeDefaultEvictionSettings nodeLeaseDurationSeconds',
  'nodeStatusMaxImages nodeStatusReportFrequency nodeStatusUpdateFrequency oomScoreAdj podLogsDir podPidsLimit port',
  'registerNode registryBurst registryPullQPS resolvConf runtimeRequestTimeout seccompDefault serializeImagePulls',
  'shutdownGracePeriod shutdownGracePeriodCriticalPods streamingConnectionIdleTimeout syncFrequency',
  'topologyManagerPolicy topologyManagerScope volumePluginDir volumeStatsAggPeriod',
].flatMap((line) => line.split(' '));

test('C39: /configz has the fields that a kubelet shows for an empty file, and no others', () => {
  const all = shown({ '--kubeconfig': '/k' });
  expect(Object.keys(all).toSorted()).toEqual(SHOWN_BY_DEFAULT.toSorted());
  expect(all).toMatchObject({
    crashLoopBackOff: { maxContainerRestartPeriod: '5m0s' },
    memorySwap: {},
  });
  expect(all.logging).toEqual({
    format: 'text',
    flushFrequency: '5s',
    verbosity: 0,
    options: { text: { infoBufferSize: '0' }, json: { infoBufferSize: '0' } },
  });
});

test('C39: an empty value of the file is omitted or is the default, and an optional field retains its zero', () => {
  const yaml = [
    'readOnlyPort: 0',
    'rotateCertificates: false',
    'clusterDomain: ""',
    'clusterDNS: []',
    'kubeReserved: {}',
    'memorySwap: {swapBehavior: ""}',
    'nodeLeaseDurationSeconds: 0',
    'contentType: ""',
    'registryPullQPS: 0',
    'cpuCFSQuota: false',
    'featureGates: {ContainerCheckpoint: false}',
  ].join('\n');
  const all = shown({ '--kubeconfig': '/k' }, yaml);
  expect(Object.keys(all).toSorted()).toEqual([...SHOWN_BY_DEFAULT, 'featureGates'].toSorted());
  expect(all).toMatchObject({
    memorySwap: {},
    nodeLeaseDurationSeconds: 40,
    contentType: 'application/vnd.kubernetes.protobuf',
    registryPullQPS: 0,
    cpuCFSQuota: false,
    featureGates: { ContainerCheckpoint: false },
  });
});

test('C39: flags are shown like the file, and a zero duration is the default', () => {
  const flags = { '--kubeconfig': '/k', '--provider-id': 'cloud://a', '--allowed-unsafe-sysctls': 'kernel.msg*' };
  const all = shown(flags, 'providerID: cloud://b\nsyncFrequency: 0m\nnodeStatusUpdateFrequency: 20s');
  expect(all).toMatchObject({
    providerID: 'cloud://a',
    allowedUnsafeSysctls: ['kernel.msg*'],
    syncFrequency: '1m0s',
    nodeStatusReportFrequency: '20s',
  });
});

test('/configz contains no secret from the flags', () => {
  const url = 'https://user:secret@example.com/pods?token=secret';
  const all = shown({ '--manifest-url': url, '--manifest-url-header': 'Authorization:secret' });
  expect(JSON.stringify(all)).not.toContain('secret');
  expect(all).toMatchObject({ staticPodURLHeader: { Authorization: ['<masked>'] } });
});

test('C39: a separate image service is shown', () => {
  expect(shown({ '--image-service-endpoint': 'unix:///run/images.sock' })).toMatchObject({
    imageServiceEndpoint: 'unix:///run/images.sock',
  });
});
