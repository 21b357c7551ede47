import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parseConfigFile } from '../../../node/config/files/readFile.ts';
import { readFlags } from '../../../node/config/flags.ts';
import { compileConfig } from '../../../node/config/nodeConfig.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const defaults = {
  hostname: 'Host-A\n',
  addresses: ['192.0.2.1'],
  rootDirectory: '/var/lib/kubelet',
  podLogsDirectory: '/var/log/pods',
};

const compile = (flags: Record<string, string>, yaml = '') =>
  compileConfig({ flags: readFlags(flags), file: parseConfigFile('/etc/k.yaml', head + yaml), defaults });

describe('defaults', () => {
  test('are those of the kubelet, except that cgroup v1 and swap do not stop the node', () => {
    expect(compileConfig({ flags: {}, defaults })).toEqual({
      nodeName: 'host-a',
      featureGates: [
        { name: 'ClusterTrustBundle', stage: 'BETA', isEnabled: false },
        { name: 'ClusterTrustBundleProjection', stage: 'BETA', isEnabled: false },
        { name: 'ContainerCheckpoint', stage: 'BETA', isEnabled: true },
        { name: 'CPUManagerPolicyBetaOptions', stage: 'BETA', isEnabled: true },
        { name: 'GracefulNodeShutdown', stage: 'BETA', isEnabled: true },
        { name: 'GracefulNodeShutdownBasedOnPodPriority', stage: 'BETA', isEnabled: true },
        { name: 'ResourceHealthStatus', stage: 'BETA', isEnabled: true },
        { name: 'ResourceHealthStatusMessage', stage: 'BETA', isEnabled: true },
        { name: 'CPUManagerPolicyAlphaOptions', stage: 'ALPHA', isEnabled: false },
        { name: 'MemoryQoS', stage: 'ALPHA', isEnabled: false },
        { name: 'PodLogsQuerySplitStreams', stage: 'ALPHA', isEnabled: false },
        { name: 'DisableCPUQuotaWithExclusiveCPUs', stage: 'DEPRECATED', isEnabled: true },
        { name: 'KubeletPodResourcesListUseActivePods', stage: 'DEPRECATED', isEnabled: true },
      ],
      nodeIps: ['192.0.2.1'],
      lenientManifests: false,
      followsHostAddresses: true,
      prefersIpv6: false,
      rootDirectory: '/var/lib/kubelet',
      podLogsDirectory: '/var/log/pods',
      containerLogsDirectory: '/var/log/containers',
      containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
      imageServiceEndpoint: 'unix:///run/containerd/containerd.sock',
      runtimeRequestTimeoutMs: 120_000,
      cgroupDriver: 'cgroupfs',
      resources: {
        reservedResources: {
          kubeReserved: {},
          systemReserved: {},
          evictionHardMemory: '100Mi',
          evictionHardDisk: '10%',
        },
        enforcesAllocatable: true,
        reservedCgroups: [],
        cgroupsPerQos: true,
        podPidsLimit: -1,
        limitedSwap: false,
        cpuCfsQuota: true,
        cpuCfsQuotaPeriodMs: 100,
        oomScoreAdj: -999,
        reportsProcessOomKills: false,
        eviction: {
          thresholds: [
            { signal: 'memory.available', value: '100Mi', graceMs: 0 },
            { signal: 'nodefs.available', value: '10%', graceMs: 0 },
            { signal: 'nodefs.inodesFree', value: '5%', graceMs: 0 },
            { signal: 'imagefs.available', value: '15%', graceMs: 0 },
            { signal: 'imagefs.inodesFree', value: '5%', graceMs: 0 },
            { signal: 'allocatableMemory.available', value: '100Mi', graceMs: 0 },
          ],
          transitionMs: 300_000,
          maxPodGraceSeconds: 0,
          enforcesStorageLimits: true,
        },
      },
      admission: { labels: {}, taints: [], unsafeSysctls: [] },
      resourceManagers: { reservedCpus: [] },
      shutdownPeriods: [],
      seccompDefault: false,
      idsPerPod: 65_536,
      maxContainerRestartPeriodMs: 300_000,
      maxParallelImagePulls: 1,
      imageVerification: { policy: 'NeverVerifyPreloadedImages', allowlist: [] },
      imagePullTimeoutMs: 3_600_000,
      slowImagePullThresholdMs: 120_000,
      fileCheckFrequencyMs: 20_000,
      syncFrequencyMs: 60_000,
      volumeStatsMs: 60_000,
      runOnce: false,
      logRotation: { maxBytes: 10 * 2 ** 20, maxFiles: 5, workers: 1, checkMs: 10_000 },
      deadContainerLimits: { perContainer: 1, total: Infinity, minAgeMs: 0 },
      imageGarbage: { highThresholdPercent: 85, lowThresholdPercent: 80, minAgeMs: 120_000, maxAgeMs: 0 },
      maxPods: 110,
      podsPerCore: 0,
      clusterDns: [],
      clusterDomain: '',
      resolvConf: '/etc/resolv.conf',
      recordSizeBytes: 64 * 2 ** 20,
      devicePluginDirectory: '/var/lib/kubelet/device-plugins',
      failCgroupV1: false,
      failSwapOn: false,
      hostSetup: { kernelParameters: 'unchanged', createsUtilChains: false, maxOpenFiles: 1_000_000 },
      podResources: { listsOnlyActivePods: true },
      reportsDeviceHealth: true,
      reportsHealthMessages: true,
      logging: { format: 'text', verbosity: 0 },
      inspect: { address: { host: '127.0.0.1', port: 10_270 }, isOpen: false },
      healthz: { host: '127.0.0.1', port: 10_248 },
      serving: expect.objectContaining({ host: '127.0.0.1', port: 10_250 }),
      userInput: { flags: {}, file: {} },
    });
  });

  test('replace zeros and empty strings of the file, as in the kubelet', () => {
    const config = compile(
      {},
      'maxPods: 0\nfileCheckFrequency: 0s\nruntimeRequestTimeout: 0s\ncontainerRuntimeEndpoint: ""\nstaticPodPath: ""',
    );
    expect({ ...config, userInput: {} }).toEqual({ ...compile({}), userInput: {} });
  });

  test('disabling the gate KubeletPodResourcesListUseActivePods adds terminated pods to the list of pod resources', () => {
    const { podResources, featureGates } = compile({}, 'featureGates: {KubeletPodResourcesListUseActivePods: false}');
    expect(podResources).toEqual({ listsOnlyActivePods: false });
    const name = 'KubeletPodResourcesListUseActivePods';
    expect(featureGates).toContainEqual({ name, stage: 'DEPRECATED', isEnabled: false });
  });

  test('disabling the gate ResourceHealthStatus or AllBeta hides the health of devices', () => {
    const gates = 'featureGates: {ResourceHealthStatus: false, ResourceHealthStatusMessage: false}';
    expect(compile({}, gates).reportsDeviceHealth).toBe(false);
    expect(compile({}, 'featureGates: {AllBeta: false}').reportsDeviceHealth).toBe(false);
  });

  test('disabling the gate ResourceHealthStatusMessage hides the messages about it alone', () => {
    const config = compile({}, 'featureGates: {ResourceHealthStatusMessage: false}');
    expect([config.reportsDeviceHealth, config.reportsHealthMessages]).toEqual([true, false]);
  });

  test('the gate ResourceHealthStatusMessage, which is on by default, needs the gate ResourceHealthStatus', () => {
    expect(() => compile({}, 'featureGates: {ResourceHealthStatus: false}')).toThrow(
      'ResourceHealthStatusMessage needs the feature gate ResourceHealthStatus',
    );
  });

  test('do not replace an empty resolvConf', () => {
    expect(compile({}, 'resolvConf: ""').resolvConf).toBe('');
  });
});

describe('a flag overrides the file', () => {
  test.each([
    ['--pod-manifest-path', '/flag', 'staticPodPath: /file', 'staticPodPath', '/flag', '/file'],
    [
      '--container-runtime-endpoint',
      '/flag.sock',
      'containerRuntimeEndpoint: unix:///file.sock',
      'containerRuntimeEndpoint',
      'unix:///flag.sock',
      'unix:///file.sock',
    ],
    [
      '--image-service-endpoint',
      'unix:///flag.sock',
      'imageServiceEndpoint: /file.sock',
      'imageServiceEndpoint',
      'unix:///flag.sock',
      'unix:///file.sock',
    ],
    ['--pod-log-dir', '/flag/pods', 'podLogsDir: /file/pods', 'podLogsDirectory', '/flag/pods', '/file/pods'],
    ['--max-pods', '0', 'maxPods: 9', 'maxPods', 0, 9],
  ] as const)('%s', (flag, value, yaml, field, fromFlag, fromFile) => {
    expect(compile({ [flag]: value }, yaml)[field]).toEqual(fromFlag);
    expect(compile({}, yaml)[field]).toEqual(fromFile);
  });

  test('-v, also written with an equals sign', () => {
    expect(compile({ '--logging-format': 'json' }).logging.format).toBe('json');
    expect(compile({ '--logging-format': 'text' }, 'logging: {format: json}').logging.format).toBe('text');
    expect(compile({ '--v': '=4' }, 'logging: {verbosity: 2, format: json}').logging).toEqual({
      format: 'json',
      verbosity: 4,
    });
  });
});

describe('a derived setting', () => {
  test('is an absolute path for a directory that is relative to the working directory', () => {
    const flags = { '--root-dir': 'kubelet', '--pod-log-dir': '../logs/pods', '--runtime-class-path': './classes' };
    expect(compile(flags)).toMatchObject({
      rootDirectory: `${process.cwd()}/kubelet`,
      podLogsDirectory: join(process.cwd(), '../logs/pods'),
      runtimeClassPath: `${process.cwd()}/classes`,
    });
  });

  test('puts the symlinks to the logs beside the log directory', () => {
    expect(compile({ '--pod-log-dir': '/data/log/pods' }).containerLogsDirectory).toBe('/data/log/containers');
  });

  test('uses the runtime as the image service unless one is configured', () => {
    expect(compile({ '--container-runtime-endpoint': '/a.sock' }).imageServiceEndpoint).toBe('unix:///a.sock');
  });

  test.each([
    ['', 1],
    ['serializeImagePulls: true', 1],
    ['serializeImagePulls: false', Number.POSITIVE_INFINITY],
    ['serializeImagePulls: false\nmaxParallelImagePulls: 4', 4],
    ['maxParallelImagePulls: 4', 4],
  ])('limits parallel image pulls: %j', (yaml, pulls) => {
    expect(compile({}, yaml).maxParallelImagePulls).toBe(pulls);
  });

  test('restricts admission by labels, taints and sysctls, for which a flag overrides the file', () => {
    const file = 'registerWithTaints: [{ key: a, effect: NoExecute }]\nallowedUnsafeSysctls: ["net.*"]';
    const taints = [{ key: 'a', effect: 'NoExecute' }];
    expect(compile({}, file).admission).toEqual({ labels: {}, taints, unsafeSysctls: ['net.*'] });
    const flags = {
      '--node-labels': 'zone=a,node.kubernetes.io/kind=,x',
      '--allowed-unsafe-sysctls': 'kernel.msg*,net.core.somaxconn',
    };
    expect(compile(flags, file).admission).toEqual({
      labels: { zone: 'a', 'node.kubernetes.io/kind': '', x: '' },
      taints,
      unsafeSysctls: ['kernel.msg*', 'net.core.somaxconn'],
    });
  });

  test('C34: taints a node of a cloud until its cloud controller has initialized it', () => {
    const taint = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };
    const flags = { '--kubeconfig': '/etc/node.conf', '--cloud-provider': 'external' };
    const own = 'registerWithTaints: [{ key: a, effect: NoExecute }]';
    expect(compile(flags, own).admission.taints).toEqual([{ key: 'a', effect: 'NoExecute' }, taint]);
    const said = { '--register-with-taints': 'node.cloudprovider.kubernetes.io/uninitialized=false:NoSchedule' };
    expect(compile({ ...flags, ...said }, '').admission.taints).toEqual([{ ...taint, value: 'false' }]);
    expect(compile({ '--cloud-provider': 'external' }, '').admission.taints).toEqual([]);
  });

  test('C25: limits the swap, the processes and the CPU quota of pods', () => {
    const none = { limitedSwap: false, podPidsLimit: -1, cpuCfsQuota: true, cpuCfsQuotaPeriodMs: 100 };
    for (const behavior of ['""', 'NoSwap']) {
      expect(compile({}, `memorySwap: {swapBehavior: ${behavior}}`).resources).toMatchObject(none);
    }
    const text =
      'memorySwap: {swapBehavior: LimitedSwap}\npodPidsLimit: 64\nsingleProcessOOMKill: false\ncpuCFSQuota: false\ncpuCFSQuotaPeriod: 10ms\noomScoreAdj: -500';
    expect(compile({}, text).resources).toMatchObject({
      limitedSwap: true,
      podPidsLimit: 64,
      singleProcessOomKill: false,
      oomScoreAdj: -500,
      cpuCfsQuota: false,
      cpuCfsQuotaPeriodMs: 10,
    });
  });

  test('is the pod CIDR or the cgroup of the agent from a flag or the file, and the flag overrides the file', () => {
    const text = 'podCIDR: 10.1.0.0/24\nkubeletCgroups: /kubelet.service';
    expect(compile({}).podCidr).toBeUndefined();
    expect(compile({}).resources.kubeletCgroups).toBeUndefined();
    expect(compile({}, text)).toMatchObject({
      podCidr: '10.1.0.0/24',
      resources: { kubeletCgroups: '/kubelet.service' },
    });
    expect(compile({ '--pod-cidr': '10.2.0.0/24', '--kubelet-cgroups': '/own' }, text)).toMatchObject({
      podCidr: '10.2.0.0/24',
      resources: { kubeletCgroups: '/own' },
    });
    const none = compile({ '--pod-cidr': '', '--kubelet-cgroups': '' }, text);
    expect([none.podCidr, none.resources.kubeletCgroups]).toEqual([undefined, undefined]);
  });

  test('cannot be changed afterwards', () => {
    const config = compile({});
    expect(Object.isFrozen(config) && Object.isFrozen(config.logging) && Object.isFrozen(config.nodeIps)).toBe(true);
  });
});

describe('flags are validated', () => {
  test.each([
    ['--max-pods', 'many', '--max-pods: expected a whole number of at least 0, got "many"'],
    [
      '--record-size',
      '64 Mi',
      '--record-size: expected a quantity of bytes such as "64Mi", of at least 1Mi, or 0, got "64 Mi"',
    ],
    [
      '--record-size',
      '1k',
      '--record-size: expected a quantity of bytes such as "64Mi", of at least 1Mi, or 0, got "1k"',
    ],
    [
      '--record-size',
      '-1',
      '--record-size: expected a quantity of bytes such as "64Mi", of at least 1Mi, or 0, got "-1"',
    ],
    [
      '--inspect-address',
      'evil.example:80',
      '--inspect-address: expected an IP address and a port such as "127.0.0.1:10270", with "?open" for a page without a token, or nothing, got "evil.example:80"',
    ],
    ['--max-pods', '-1', '--max-pods: expected a whole number of at least 0, got "-1"'],
    [
      '--node-labels',
      'a=b c',
      '--node-labels: expected labels such as "zone=a,disk=ssd"; under kubernetes.io only labels that a node may set on itself, got "a=b c"',
    ],
    [
      '--node-labels',
      'node-role.kubernetes.io/x=',
      '--node-labels: expected labels such as "zone=a,disk=ssd"; under kubernetes.io only labels that a node may set on itself, got "node-role.kubernetes.io/x="',
    ],
    [
      '--allowed-unsafe-sysctls',
      'vm.swappiness',
      '--allowed-unsafe-sysctls: expected namespaced sysctls such as "net.core.somaxconn,kernel.msg*", got "vm.swappiness"',
    ],
    ['--hostname-override', 'a_b', '--hostname-override: expected a DNS name such as "node-1", got "a_b"'],
    [
      '--node-ip',
      '10.0.0',
      '--node-ip: expected an IP address, a comma-separated IPv4 and IPv6 address, or 0.0.0.0 or :: alone, got "10.0.0"',
    ],
    [
      '--node-ip',
      '10.0.0.1,10.0.0.2',
      '--node-ip: expected an IP address, a comma-separated IPv4 and IPv6 address, or 0.0.0.0 or :: alone, got "10.0.0.1,10.0.0.2"',
    ],
    [
      '--cloud-provider',
      'aws',
      '--cloud-provider: expected "external" or nothing, as the cloud providers inside of Kubernetes are gone, got "aws"',
    ],
    ['--root-dir', '', '--root-dir: expected a directory other than /, got ""'],
    ['--root-dir', '//', '--root-dir: expected a directory other than /, got "//"'],
    ['--state-dir', '', '--state-dir: expected a directory other than /, got ""'],
    ['--pod-log-dir', '/', '--pod-log-dir: expected a directory other than /, got "/"'],
    ['--pod-manifest-path', '', '--pod-manifest-path: expected a path, got ""'],
    [
      '--container-runtime-endpoint',
      'run.sock',
      '--container-runtime-endpoint: expected a socket such as "unix:///run/containerd/containerd.sock", got "run.sock"',
    ],
  ])('%s %s is rejected', (flag, value, message) => {
    expect(() => readFlags({ [flag]: value })).toThrow(message);
  });

  test('addresses of both families', () => {
    expect(compile({ '--node-ip': '10.0.0.1,fd00::1' }).nodeIps).toEqual(['10.0.0.1', 'fd00::1']);
  });
});

describe('the reserved resources', () => {
  test('are read from the file, and reserve no memory for eviction if its thresholds omit memory', () => {
    const text = 'kubeReserved: {cpu: 100m, memory: 1Gi}\nsystemReserved: {memory: 512Mi}\n';
    expect(compile({}, `${text}evictionHard: {memory.available: 5%}`).resources.reservedResources).toEqual({
      kubeReserved: { cpu: '100m', memory: '1Gi' },
      systemReserved: { memory: '512Mi' },
      evictionHardMemory: '5%',
    });
    expect(
      compile({}, 'evictionHard: {nodefs.available: 5%}').resources.reservedResources.evictionHardMemory,
    ).toBeUndefined();
    const merged = 'evictionHard: {nodefs.available: 5%}\nmergeDefaultEvictionSettings: true';
    expect(compile({}, merged).resources.reservedResources.evictionHardMemory).toBe('100Mi');
    const disk = compile({}, 'evictionHard: {nodefs.available: 1.5%, imagefs.available: 0%}').resources
      .reservedResources;
    expect(disk.evictionHardDisk).toBe('1.5%');
  });

  test.each([
    ['kubeReserved: {cpu: much}', 'kubeReserved.cpu: expected a quantity such as "100m" or "1Gi", got "much"'],
    ['systemReserved: {cpus: 1}', 'systemReserved.cpus: unknown resource; did you mean cpu?'],
    [
      'evictionHard: {memory.available: much}',
      'evictionHard.memory.available: expected a quantity above 0 such as "100Mi", or a percentage such as "10%", got "much"',
    ],
    [
      'evictionHard: {nodefs.available: much}',
      'evictionHard.nodefs.available: expected a quantity above 0 such as "100Mi", or a percentage such as "10%", got "much"',
    ],
    [
      'evictionHard: {nodefs.available: 101%}',
      'evictionHard.nodefs.available: expected a quantity above 0 such as "100Mi", or a percentage such as "10%", got "101%"',
    ],
    [
      'evictionHard: {memory.available: "0"}',
      'evictionHard.memory.available: expected a quantity above 0 such as "100Mi", or a percentage such as "10%", got "0"',
    ],
    [
      'evictionHard: {pid.available: -1Ki}',
      'evictionHard.pid.available: expected a quantity above 0 such as "100Mi", or a percentage such as "10%", got "-1Ki"',
    ],
    ['cgroupsPerQOS: false\nenforceNodeAllocatable: [pods]', 'enforceNodeAllocatable: needs cgroupsPerQOS'],
  ])('are rejected with %s', (text, message) => expect(() => compile({}, text)).toThrow(message));
});

describe('C25: changes to the host', () => {
  const setupOf = (yaml: string, isHostDedicated: boolean) =>
    compileConfig({
      flags: {},
      file: parseConfigFile('/etc/k.yaml', head + yaml),
      defaults: { ...defaults, isHostDedicated },
    }).hostSetup;

  test('are those of a kubelet on a host that is dedicated to the node', () => {
    expect(setupOf('', true)).toEqual({
      kernelParameters: 'set',
      createsUtilChains: true,
      maxOpenFiles: 1_000_000,
    });
    expect(setupOf('protectKernelDefaults: true\nmakeIPTablesUtilChains: false\nmaxOpenFiles: 5000', true)).toEqual({
      kernelParameters: 'required',
      createsUtilChains: false,
      maxOpenFiles: 5_000,
    });
  });

  test('apply to other hosts only if the file requests them', () => {
    expect(setupOf('', false)).toMatchObject({ kernelParameters: 'unchanged', createsUtilChains: false });
    expect(setupOf('protectKernelDefaults: false', false)).toMatchObject({ kernelParameters: 'set' });
    expect(setupOf('protectKernelDefaults: true', false)).toMatchObject({ kernelParameters: 'required' });
    expect(setupOf('makeIPTablesUtilChains: true', false)).toMatchObject({ createsUtilChains: true });
  });
});

test('C25: memory is protected and throttled only with the feature gate MemoryQoS', () => {
  const memoryQosOf = (yaml: string) => compile({}, yaml).resources.memoryQos;
  expect(memoryQosOf('memoryThrottlingFactor: 0.8')).toBeUndefined();
  expect(memoryQosOf('featureGates: {MemoryQoS: true}')).toEqual({ throttlingFactor: 0.9, isTiered: false });
  expect(
    memoryQosOf(
      'featureGates: {AllAlpha: true}\nmemoryThrottlingFactor: 0.8\nmemoryReservationPolicy: TieredReservation',
    ),
  ).toEqual({ throttlingFactor: 0.8, isTiered: true });
});
