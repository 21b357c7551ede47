/** Settings of the served node API, from flags and configuration file. */
import { describe, expect, test } from '@jest/globals';
import { compileServedEndpoints } from '../../../../node/config/compile/serving.ts';
import { parseConfigFile } from '../../../../node/config/files/readFile.ts';
import { readFlags } from '../../../../node/config/flags.ts';
import { settingValues } from '../../../../node/config/settings/settingValues.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
type Given = Readonly<Record<string, string | boolean>>;
const served = (flags: Given = {}, yaml = '', hasCluster = true) =>
  compileServedEndpoints(
    settingValues({
      flags: readFlags({ ...flags, ...(hasCluster ? { '--kubeconfig': '/etc/node.conf' } : {}) }),
      file: parseConfigFile('/etc/kubelet/k.yaml', head + yaml).config,
    }),
    '/var/lib/node',
  );

test('a node in a cluster serves like a kubelet, and rejects anonymous requests', () => {
  expect(served()).toEqual({
    healthz: { host: '127.0.0.1', port: 10_248 },
    serving: {
      host: '0.0.0.0',
      port: 10_250,
      isIssuedByCluster: false,
      certificateDirectory: '/var/lib/node/pki',
      tls: { minVersion: '', cipherSuites: [], curves: [] },
      authentication: { isAnonymousAllowed: false, webhook: { cacheMs: 120_000 } },
      authorization: { mode: 'Webhook', allowedMs: 300_000, deniedMs: 30_000 },
      enabledFeatures: { debugging: true, systemLogs: true, profiling: true, debugFlags: true },
      hasLogQuery: false,
      splitsLogs: false,
      supportsCheckpoints: true,
    },
  });
});

test('a node without a cluster serves on loopback, for clients with its token', () => {
  expect(served({}, '', false).serving).toMatchObject({
    host: '127.0.0.1',
    authentication: { isAnonymousAllowed: false },
    authorization: { mode: 'Masters' },
  });
  expect(served({ '--address': '::1' }, 'serverTLSBootstrap: true', false).serving).toMatchObject({
    host: '::1',
    isIssuedByCluster: false,
  });
});

test('the file overrides the defaults, and its paths are relative to its directory', () => {
  const yaml = `
address: 192.0.2.1
port: 10350
readOnlyPort: 10255
healthzPort: 0
tlsCertFile: tls.crt
tlsPrivateKeyFile: /etc/tls.key
tlsMinVersion: VersionTLS13
tlsCipherSuites: [TLS_AES_128_GCM_SHA256]
tlsCurvePreferences: [29]
serverTLSBootstrap: true
authentication: {x509: {clientCAFile: ca.crt}, webhook: {enabled: false, cacheTTL: 1m}, anonymous: {enabled: true}}
authorization: {mode: Webhook, webhook: {cacheAuthorizedTTL: 1m, cacheUnauthorizedTTL: 1s}}
enableDebuggingHandlers: false
enableSystemLogHandler: true
enableSystemLogQuery: true
enableProfilingHandler: false
enableDebugFlagsHandler: false
featureGates: {PodLogsQuerySplitStreams: true, ContainerCheckpoint: false}
`;
  const { serving, healthz } = served({}, yaml);
  expect(healthz).toBeUndefined();
  expect(serving).toEqual({
    host: '192.0.2.1',
    port: 10_350,
    readOnlyPort: 10_255,
    isIssuedByCluster: true,
    certificateDirectory: '/var/lib/node/pki',
    clientCaFile: '/etc/kubelet/ca.crt',
    hasLogQuery: true,
    splitsLogs: true,
    supportsCheckpoints: false,
    certificatePair: { certFile: '/etc/kubelet/tls.crt', keyFile: '/etc/tls.key' },
    tls: { minVersion: 'VersionTLS13', cipherSuites: ['TLS_AES_128_GCM_SHA256'], curves: [29] },
    authentication: { isAnonymousAllowed: true },
    authorization: { mode: 'Webhook', allowedMs: 60_000, deniedMs: 1_000 },
    enabledFeatures: { debugging: false, systemLogs: true, profiling: false, debugFlags: false },
  });
});

test('flags override the file, and only a flag can request an arbitrary port', () => {
  const flags = {
    '--port': '0',
    '--address': '::',
    '--healthz-port': '1',
    '--healthz-bind-address': '::1',
    '--anonymous-auth': true,
    '--authentication-token-webhook': false,
    '--authorization-mode': 'AlwaysAllow',
    '--client-ca-file': '/ca',
    '--tls-cert-file': '/c',
    '--tls-private-key-file': '/k',
    '--read-only-port': '2',
  };
  const { serving, healthz } = served(flags, 'port: 10350\nauthorization: {mode: Webhook}');
  expect(healthz).toEqual({ host: '::1', port: 1 });
  expect(serving).toMatchObject({
    host: '::',
    port: 0,
    readOnlyPort: 2,
    clientCaFile: '/ca',
    certificatePair: { certFile: '/c', keyFile: '/k' },
    authentication: { isAnonymousAllowed: true },
    authorization: { mode: 'AlwaysAllow' },
  });
  expect(serving?.authentication.webhook).toBeUndefined();
  expect(served({}, 'port: 0').serving?.port).toBe(10_250);
  expect(served({ '--enable-server': false }).serving).toBeUndefined();
  expect(served({}, 'enableServer: false').serving).toBeUndefined();
});

describe('one clear message rejects', () => {
  test.each<readonly [string, Given, string, boolean, RegExp]>([
    [
      'another address without a cluster',
      {},
      'address: 0.0.0.0',
      false,
      /^address: .* loopback only, got "0\.0\.0\.0"$/,
    ],
    [
      'reviews without a cluster',
      {},
      'authorization: {mode: Webhook}',
      false,
      /^authorization\.mode: .* --kubeconfig$/,
    ],
    ['tokens without one', { '--authentication-token-webhook': true }, '', false, /^authentication\.webhook: /],
    ['half a certificate', {}, 'tlsCertFile: a', true, /^tlsCertFile and tlsPrivateKeyFile: each needs the other$/],
    ['a suite of the past', {}, 'tlsCipherSuites: [TLS_RSA_WITH_RC4_128_SHA]', true, /^tlsCipherSuites: .*RC4/],
    ['an unknown curve', {}, 'tlsCurvePreferences: [7]', true, /^tlsCurvePreferences: 7/],
    ['an address that is none', {}, 'address: here', true, /address: expected an IP address, got "here"$/],
    ['a flag that is none', { '--healthz-bind-address': 'here' }, '', true, /expected an IP address, got "here"$/],
    ['a port that is none', { '--port': '70000' }, '', true, /^--port: expected a whole number between 0 and 65535/],
  ])('%s', (_, flags, yaml, hasCluster, message) => {
    expect(() => served(flags, yaml, hasCluster)).toThrow(message);
  });
});
