import { expect, test } from '@jest/globals';
import { compileCluster as compiled } from '../../../../node/config/compile/cluster.ts';
import type { KubeletConfiguration } from '../../../../node/config/files/kubeletConfiguration.ts';
import { parseConfigFile } from '../../../../node/config/files/readFile.ts';
import { readFlags } from '../../../../node/config/flags.ts';
import type { Flags } from '../../../../node/config/settings/allSettings.ts';
import { settingValues } from '../../../../node/config/settings/settingValues.ts';

const clusterOf = (given: Flags, of: KubeletConfiguration | undefined) =>
  compiled(settingValues({ flags: given, file: of }), '/var/lib/node');
const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const flags = (more: Record<string, string | boolean> = {}) => readFlags({ '--kubeconfig': '/etc/node.conf', ...more });
const file = (yaml: string) => parseConfigFile('/etc/k.yaml', head + yaml).config;

test('a node without a kubeconfig belongs to no cluster', () => {
  expect(clusterOf(readFlags({}), file('registerNode: true'))).toBeUndefined();
});

test('the defaults are those of a kubelet', () => {
  expect(clusterOf(flags(), undefined)).toEqual({
    certificates: {
      directory: '/var/lib/node/pki',
      rotatesClientCertificate: false,
      requestsServingCertificate: false,
    },
    kubeconfig: '/etc/node.conf',
    registersNode: true,
    attachesByController: true,
    providerId: '',
    leaseSeconds: 40,
    statusCheckMs: 10_000,
    statusReportMs: 300_000,
    statusImages: 50,
    rateLimit: { qps: 50, burst: 100 },
    objects: { strategy: 'Watch', syncMs: 60_000 },
    eventRate: { qps: 50, burst: 100 },
    hasTrustBundles: false,
  });
});

test('the file overrides the defaults', () => {
  const said = [
    'enableControllerAttachDetach: false',
    'registerNode: false',
    'providerID: cloud://a',
    'nodeLeaseDurationSeconds: 20',
    'kubeAPIQPS: 7',
    'kubeAPIBurst: 9',
    'eventRecordQPS: 3',
    'eventBurst: 4',
    'nodeStatusUpdateFrequency: 4s',
    'nodeStatusReportFrequency: 1m',
    'nodeStatusMaxImages: -1',
    'configMapAndSecretChangeDetectionStrategy: Cache',
    'syncFrequency: 20s',
    'featureGates: {ClusterTrustBundle: true, ClusterTrustBundleProjection: true}',
  ];
  expect(clusterOf(flags(), file(said.join('\n')))).toMatchObject({
    registersNode: false,
    attachesByController: false,
    providerId: 'cloud://a',
    leaseSeconds: 20,
    rateLimit: { qps: 7, burst: 9 },
    eventRate: { qps: 3, burst: 4 },
    objects: { strategy: 'Cache', syncMs: 20_000 },
    statusCheckMs: 4_000,
    statusReportMs: 60_000,
    statusImages: -1,
    hasTrustBundles: true,
  });
});

test('the cloud controller receives the addresses that were configured for the node', () => {
  const ofCloud = (more: Record<string, string>) =>
    clusterOf(flags({ '--cloud-provider': 'external', ...more }), undefined)?.cloud;
  expect(ofCloud({})).toEqual({ providedIps: [], reportsAddress: false });
  expect(ofCloud({ '--node-ip': '192.0.2.1' })).toEqual({ providedIps: ['192.0.2.1'], reportsAddress: true });
  expect(ofCloud({ '--node-ip': '0.0.0.0' })).toEqual({ providedIps: [], reportsAddress: true });
  expect(ofCloud({ '--cloud-provider': '' })).toBeUndefined();
});

test('the report frequency of the status defaults to its configured update frequency', () => {
  expect(clusterOf(flags(), file('nodeStatusUpdateFrequency: 4s'))).toMatchObject({
    statusCheckMs: 4_000,
    statusReportMs: 4_000,
  });
});

test('a rate of 0 is the default of client-go and a burst of 0 the default of the kubelet, as in a kubelet', () => {
  expect(clusterOf(flags(), file('kubeAPIQPS: 0\nkubeAPIBurst: 0'))).toMatchObject({
    rateLimit: { qps: 5, burst: 100 },
  });
});

test('flags override the file', () => {
  const more = { '--register-node': false, '--provider-id': 'cloud://b' };
  expect(clusterOf(flags(more), file('registerNode: true\nproviderID: cloud://a'))).toMatchObject({
    registersNode: false,
    providerId: 'cloud://b',
  });
});

test.each([
  ['dedicated:NoExecute', [{ key: 'dedicated', effect: 'NoExecute' }]],
  [
    'example.com/gpu=yes:NoSchedule,b=:PreferNoSchedule',
    [
      { key: 'example.com/gpu', value: 'yes', effect: 'NoSchedule' },
      { key: 'b', effect: 'PreferNoSchedule' },
    ],
  ],
])('taints are read from a flag: %s', (text, taints) => {
  expect(readFlags({ '--register-with-taints': text })['--register-with-taints']).toEqual(taints);
});

test.each(['a', 'a:Never', '=b:NoExecute', 'a=b=c:NoExecute', 'a b:NoExecute', 'a:constructor'])(
  'an invalid taint is rejected: %s',
  (text) => {
    expect(() => readFlags({ '--register-with-taints': text })).toThrow(
      `--register-with-taints: expected taints such as "example.com/gpu=yes:NoSchedule,dedicated:NoExecute", got "${text}"`,
    );
  },
);

test('the certificate directory is set by a flag, and certificate rotation by the file or flags', () => {
  const kept = file('rotateCertificates: true\nserverTLSBootstrap: true');
  const begun = flags({ '--bootstrap-kubeconfig': '/etc/bootstrap.conf', '--cert-dir': '/etc/pki' });
  expect(clusterOf(begun, kept)).toMatchObject({
    bootstrapKubeconfig: '/etc/bootstrap.conf',
    certificates: { directory: '/etc/pki', rotatesClientCertificate: true, requestsServingCertificate: true },
  });
  const off = flags({ '--rotate-certificates': false, '--rotate-server-certificates': false });
  expect(clusterOf(off, kept)?.certificates).toMatchObject({
    rotatesClientCertificate: false,
    requestsServingCertificate: false,
  });
});

test('a bootstrap kubeconfig requires a path for the kubeconfig of the node', () => {
  const alone = readFlags({ '--bootstrap-kubeconfig': '/etc/bootstrap.conf' });
  expect(() => clusterOf(alone, undefined)).toThrow('--bootstrap-kubeconfig: requires --kubeconfig');
});
