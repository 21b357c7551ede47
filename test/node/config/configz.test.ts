/** The configuration as a node tells it. */
import { expect, test } from '@jest/globals';
import { kubeletConfigurationOf } from '../../../node/config/configz.ts';
import { readFlags } from '../../../node/config/flags.ts';
import { compileConfig } from '../../../node/config/nodeConfig.ts';
import { parseConfigFile } from '../../../node/config/readFile.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const defaults = { hostname: 'h', addresses: ['192.0.2.1'], rootDirectory: '/r', podLogsDirectory: '/var/log/pods' };
const told = (flags: Record<string, string | boolean> = {}, yaml = '') =>
  kubeletConfigurationOf(
    compileConfig({ flags: readFlags(flags), file: parseConfigFile('/etc/k.yaml', head + yaml), defaults }),
  );

test("what nobody says is a kubelet's, with durations as Go writes them", () => {
  expect(told({ '--kubeconfig': '/k' })).toMatchObject({
    ...{ kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1', address: '0.0.0.0', port: 10_250 },
    ...{ syncFrequency: '1m0s', runtimeRequestTimeout: '2m0s', streamingConnectionIdleTimeout: '4h0m0s' },
    ...{ cpuCFSQuotaPeriod: '100ms', containerLogMaxSize: '10Mi', maxPods: 110, serializeImagePulls: true },
    authentication: { webhook: { enabled: true, cacheTTL: '2m0s' }, anonymous: { enabled: false } },
    authorization: { mode: 'Webhook', webhook: { cacheAuthorizedTTL: '5m0s', cacheUnauthorizedTTL: '30s' } },
  });
});

test('the file says it otherwise, and flags win', () => {
  const yaml =
    'syncFrequency: 90s\nmaxPods: 20\nlogging: {verbosity: 3}\nevictionHard: {memory.available: 5%}\nport: 1';
  expect(told({ '--max-pods': '30', '--port': '2' }, yaml)).toMatchObject({
    ...{ syncFrequency: '1m30s', maxPods: 30, evictionHard: { 'memory.available': '5%' }, port: 2 },
    logging: { format: 'text', flushFrequency: '5s', verbosity: 3 },
  });
});

test('no secret of the address of pods is in it', () => {
  const yaml =
    'staticPodURL: https://user:secret@example.com/pods?token=secret\nstaticPodURLHeader: {Authorization: [secret]}';
  const all = told({}, yaml);
  expect(JSON.stringify(all)).not.toContain('secret');
  expect(all).toMatchObject({ staticPodURLHeader: { Authorization: ['<masked>'] } });
});
