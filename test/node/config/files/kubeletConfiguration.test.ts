import { describe, expect, test } from '@jest/globals';
import { ConfigError } from '../../../../node/config/configError.ts';
import { parseConfigFile } from '../../../../node/config/files/readFile.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

function mistakeOf(yaml: string): string {
  try {
    parseConfigFile('/etc/k.yaml', head + yaml);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return error instanceof Error ? error.message : '';
  }
  throw new Error('the configuration was accepted');
}

describe('a mistake is reported in one message with file, path, expected value and the nearest name', () => {
  test.each([
    ['maxPod: 5', '/etc/k.yaml: maxPod: unknown field; did you mean maxPods?'],
    ['MaxPods: 5', '/etc/k.yaml: MaxPods: unknown field; did you mean maxPods?'],
    ['failSwapon: true', '/etc/k.yaml: failSwapon: unknown field; did you mean failSwapOn?'],
    ['qqqqqqqq: 1', '/etc/k.yaml: qqqqqqqq: unknown field'],
    ['logging: {verbositi: 2}', '/etc/k.yaml: logging.verbositi: unknown field; did you mean verbosity?'],
    [
      'evictionHard: {memory.availabel: 100Mi}',
      '/etc/k.yaml: evictionHard.memory.availabel: unknown eviction signal; did you mean memory.available?',
    ],
    [
      'evictionSoftGracePeriod: {pid.available: 5}',
      '/etc/k.yaml: evictionSoftGracePeriod.pid.available: expected a duration such as "1m30s", got 5',
    ],
    [
      'evictionSoft: {nodefs.available: 5}',
      '/etc/k.yaml: evictionSoft.nodefs.available: expected a quantity above 0 such as "100Mi", or a percentage such as "10%", got 5',
    ],
    ['maxPods: many', '/etc/k.yaml: maxPods: expected a whole number of at least 0, got "many"'],
    ['maxPods: 1.5', '/etc/k.yaml: maxPods: expected a whole number of at least 0, got 1.5'],
    ['maxPods: -1', '/etc/k.yaml: maxPods: expected a whole number of at least 0, got -1'],
    ['port: 65536', '/etc/k.yaml: port: expected a whole number between 0 and 65535, got 65536'],
    ['oomScoreAdj: -1001', '/etc/k.yaml: oomScoreAdj: expected a whole number between -1000 and 1000, got -1001'],
    [
      'memoryThrottlingFactor: 0',
      '/etc/k.yaml: memoryThrottlingFactor: expected a number above 0 and at most 1, got 0',
    ],
    ['syncFrequency: 60', '/etc/k.yaml: syncFrequency: expected a duration such as "30s" or "1m30s", got 60'],
    ['syncFrequency: 1x', '/etc/k.yaml: syncFrequency: expected a duration such as "30s" or "1m30s", got "1x"'],
    ['failSwapOn: "yes"', '/etc/k.yaml: failSwapOn: expected true or false, got "yes"'],
    ['clusterDNS: 10.0.0.10', '/etc/k.yaml: clusterDNS: expected a list, got "10.0.0.10"'],
    ['clusterDNS: [ten]', '/etc/k.yaml: clusterDNS[0]: expected an IP address, got "ten"'],
    ['featureGates: {NodeSwap: maybe}', '/etc/k.yaml: featureGates.NodeSwap: expected true or false, got "maybe"'],
    ['logging: loud', '/etc/k.yaml: logging: expected a map of fields, got "loud"'],
    ['cgroupDriver: cgroup', '/etc/k.yaml: cgroupDriver: expected one of "", "cgroupfs", "systemd", got "cgroup"'],
    [
      'containerRuntimeEndpoint: tcp://1.2.3.4:5',
      '/etc/k.yaml: containerRuntimeEndpoint: expected a socket such as "unix:///run/containerd/containerd.sock", got "tcp://1.2.3.4:5"',
    ],
    [
      'crashLoopBackOff: {maxContainerRestartPeriod: 301s}',
      '/etc/k.yaml: crashLoopBackOff.maxContainerRestartPeriod: expected a duration such as "30s" or "1m30s" between 1s and 5m, got "301s"',
    ],
    [
      'registerWithTaints: [{key: a}]',
      '/etc/k.yaml: registerWithTaints[0].effect: expected one of "NoSchedule", "PreferNoSchedule", "NoExecute", got nothing',
    ],
    [
      'serializeImagePulls: true\nmaxParallelImagePulls: 3',
      '/etc/k.yaml: maxParallelImagePulls: must be 1 where serializeImagePulls is true',
    ],
    [
      'imageGCLowThresholdPercent: 90',
      '/etc/k.yaml: imageGCLowThresholdPercent: must be less than imageGCHighThresholdPercent',
    ],
  ])('%s', (yaml, message) => {
    expect(mistakeOf(yaml)).toBe(message);
  });

  test('each of several mistakes has its own line', () => {
    expect(mistakeOf('maxPod: 5\nport: a').split('\n')).toHaveLength(2);
  });

  test('kind and apiVersion are required', () => {
    expect(() => parseConfigFile('/k', 'kind: Pod')).toThrow(
      '/k: apiVersion: expected "kubelet.config.k8s.io/v1beta1", got nothing\n/k: kind: expected "KubeletConfiguration", got "Pod"',
    );
  });

  test('invalid YAML is reported with its line', () => {
    expect(() => parseConfigFile('/k', 'a: [1')).toThrow(/^\/k: .* at line 2/);
    expect(() => parseConfigFile('/k', 'a: 1\na: 2')).toThrow(
      /^\/k: key "a" is already set in this mapping at line 2, column 1$/,
    );
  });

  test('an empty file has no fields, and is rejected', () => {
    expect(() => parseConfigFile('/k', '')).toThrow('/k: apiVersion: expected');
    expect(() => parseConfigFile('/k', '- a')).toThrow('/k: expected a map of fields');
  });
});

describe('a valid configuration', () => {
  test('may be JSON instead of YAML', () => {
    const json = JSON.stringify({
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      maxPods: 7,
    });
    expect(parseConfigFile('/k.json', json).config.maxPods).toBe(7);
  });

  test.each([
    ['1m30s', 90_000],
    ['4000000µs', 4_000],
    ['4000000μs', 4_000],
    ['0.5h', 1_800_000],
    ['250ms', 250],
    ['1h2m3s4ms', 3_723_004],
    ['0', 0],
    ['0s', 0],
  ])('may contain the duration %s', (text, milliseconds) => {
    expect(parseConfigFile('/k', `${head}syncFrequency: ${JSON.stringify(text)}`).config.syncFrequency).toBe(
      milliseconds,
    );
  });

  test('leaves a field unset if it is null', () => {
    expect(parseConfigFile('/k', `${head}maxPods: null\nlogging:\n  format: ~`).config).not.toHaveProperty('maxPods');
  });

  test('reads a null in a list or map as the zero value of its type, like a kubelet', () => {
    expect(parseConfigFile('/k', `${head}featureGates: {X: }\nallowedUnsafeSysctls: []`).config.featureGates).toEqual({
      X: false,
    });
    const mistakes = (text: string) => () => parseConfigFile('/k', head + text);
    expect(mistakes('systemReserved: {cpu: }')).toThrow(
      'systemReserved.cpu: expected a quantity such as "100m" or "1Gi", got ""',
    );
    expect(mistakes('evictionHard: {memory.available: }')).toThrow(
      'evictionHard.memory.available: expected a quantity',
    );
    expect(mistakes('clusterDNS: [~]')).toThrow('clusterDNS[0]: expected an IP address, got ""');
  });

  test('reads a missing number or map of a list item as the zero value of its type, like a kubelet', () => {
    const text = [
      'reservedMemory: [{limits: {memory: 1Gi}}, {numaNode: 1}]',
      'shutdownGracePeriodByPodPriority: [{shutdownGracePeriodSeconds: 10}, {priority: 1000}]',
      'logging: {vmodule: [{filePattern: gopher}]}',
    ].join('\n');
    expect(parseConfigFile('/k', head + text).config).toMatchObject({
      reservedMemory: [{ numaNode: 0 }, { numaNode: 1, limits: {} }],
      shutdownGracePeriodByPodPriority: [
        { priority: 0, shutdownGracePeriodSeconds: 10 },
        { priority: 1_000, shutdownGracePeriodSeconds: 0 },
      ],
      logging: { vmodule: [{ filePattern: 'gopher', verbosity: 0 }] },
    });
  });

  test('reports an integer that a number cannot represent', () => {
    const mistakes = (text: string) => () => parseConfigFile('/k', head + text);
    expect(mistakes('clusterDomain: 9223372036854775809')).toThrow('got 9223372036854775809');
    expect(mistakes('clusterDomain: [9223372036854775809]')).toThrow('got [9223372036854776000]');
    expect(mistakes('maxPods: 9223372036854775809')).toThrow('maxPods: expected a whole number');
  });

  test('has paths relative to the directory of the file', () => {
    const { config } = parseConfigFile('/etc/kubernetes/k.yaml', `${head}staticPodPath: manifests\npodLogsDir: /logs`);
    expect(config.staticPodPath).toBe('/etc/kubernetes/manifests');
    expect(config.podLogsDir).toBe('/logs');
  });

  test('may contain known fields without effect, which are listed', () => {
    const { ignoredFields } = parseConfigFile(
      '/k',
      `${head}maxPods: 5\nhairpinMode: none\nevictionHard: {memory.available: 100Mi}\niptablesDropBit: 3`,
    );
    expect(ignoredFields).toEqual(expect.arrayContaining(['hairpinMode', 'iptablesDropBit']));
  });

  test('may be the file that kubeadm writes', () => {
    const kubeadm = `${head}
authentication: {anonymous: {enabled: false}, webhook: {cacheTTL: 0s, enabled: true}, x509: {clientCAFile: /etc/kubernetes/pki/ca.crt}}
authorization: {mode: Webhook, webhook: {cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 0s}}
cgroupDriver: systemd
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
containerRuntimeEndpoint: ""
cpuManagerReconcilePeriod: 0s
crashLoopBackOff: {}
evictionPressureTransitionPeriod: 0s
fileCheckFrequency: 0s
healthzBindAddress: 127.0.0.1
healthzPort: 10248
httpCheckFrequency: 0s
imageMaximumGCAge: 0s
imageMinimumGCAge: 0s
logging: {flushFrequency: 0, options: {json: {infoBufferSize: "0"}, text: {infoBufferSize: "0"}}, verbosity: 0}
memorySwap: {}
nodeStatusReportFrequency: 0s
nodeStatusUpdateFrequency: 0s
rotateCertificates: true
runtimeRequestTimeout: 0s
shutdownGracePeriod: 0s
shutdownGracePeriodCriticalPods: 0s
staticPodPath: /etc/kubernetes/manifests
streamingConnectionIdleTimeout: 0s
syncFrequency: 0s
volumeStatsAggPeriod: 0s
`;
    expect(parseConfigFile('/var/lib/kubelet/config.yaml', kubeadm).config.clusterDomain).toBe('cluster.local');
  });
});
