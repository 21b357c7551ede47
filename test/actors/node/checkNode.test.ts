import { expect, test } from '@jest/globals';
import { checkNode } from '../../../actors/node/checkNode.ts';

const given = {
  nodeName: 'node-1',
  rootDir: '/var/lib/statelet',
  runtimeEndpoint: 'unix:///run/containerd.sock',
  capacity: { cpuMillis: 1_000, memoryBytes: 2 ** 30, pods: 110 },
};
const url = { url: 'https://manifests.example/pods', everyMs: 20_000, headers: [] };

test.each([
  {},
  { cgroupRoot: 'pods' },
  { cgroupRoot: '', clusterDns: ['10.0.0.10', 'fd00::a'], clusterDomain: 'cluster.local', cgroupDriver: 'systemd' },
  { garbage: { perContainer: 1, total: Number.POSITIVE_INFINITY }, pullSlots: Number.POSITIVE_INFINITY },
  { crashLoop: { baseMs: 1_000, maxMs: 1_000 }, manifestUrl: url, userNamespaces: { pods: 110, idsPerPod: 65_536 } },
  { logs: { maxBytes: Number.POSITIVE_INFINITY, maxFiles: 5, workers: 1, checkMs: 10_000 } },
])('the node configuration %j is accepted', (config) => {
  expect(() => checkNode({ ...given, ...config }, { cri: {} })).not.toThrow();
});

test.each([
  ['clusterDns: expected array, got string', { clusterDns: '10.0.0.10' }],
  ['clusterDns[0]: Invalid value: "x": expected an IP address', { clusterDns: ['x'] }],
  ['clusterDomain: expected string, got number', { clusterDomain: 5 }],
  ['cgroupRoot: Invalid value: "/../pods": expected the path of a cgroup', { cgroupRoot: '/../pods' }],
  ['cgroupDriver: Unsupported value: "constructor"', { cgroupDriver: 'constructor' }],
  ['resolvConf: expected object, got string', { resolvConf: '/etc/resolv.conf' }],
  ['resolvConf.servers: Required value', { resolvConf: { searches: [], options: [] } }],
  ['readResolvConf: Invalid value: 5: expected a function', { readResolvConf: 5 }],
  ['maskedPaths: expected array, got number', { maskedPaths: 5 }],
  ['tmpfsNoswap: expected boolean, got number', { tmpfsNoswap: 5 }],
  ['takesOver: expected boolean, got string', { takesOver: 'yes' }],
  ['endsAll: expected boolean, got string', { endsAll: 'yes' }],
  ['isLenient: expected boolean, got string', { isLenient: 'yes' }],
  ['limitedSwap: expected boolean, got string', { limitedSwap: 'yes' }],
  ['seccompDefault: expected boolean, got string', { seccompDefault: 'yes' }],
  ['canLowerOomScoreAdj: expected boolean, got string', { canLowerOomScoreAdj: 'yes' }],
  ['sources: expected array, got string', { sources: 'file' }],
  ['garbage.total: expected number or Infinity, got NaN', { garbage: { perContainer: 1, total: Number.NaN } }],
  ['conditions[0].status: Unsupported value: "yes"', { conditions: [{ type: 'Ready', status: 'yes' }] }],
  ['admissionNode.labels: expected object, got array', { admissionNode: { labels: [] } }],
  ['admissionNode.sysctls: expected array, got string', { admissionNode: { sysctls: 'kernel.*' } }],
  ['userNamespaces.pods: Required value', { userNamespaces: {} }],
  ['manifestUrl.url: Invalid value: "pods.yaml": ', { manifestUrl: { ...url, url: 'pods.yaml' } }],
  ['crashLoop.maxMs: Invalid value: 5: expected at least baseMs', { crashLoop: { baseMs: 10, maxMs: 5 } }],
])('an invalid node configuration is rejected with the message: %s', (message, config) => {
  expect(() => checkNode({ ...given, ...config }, { cri: {} })).toThrow(`createNode: ${message}`);
});
