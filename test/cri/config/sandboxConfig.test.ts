import { describe, expect, test } from '@jest/globals';
import { cgroupParent, sandboxConfig } from '../../../cri/config/sandboxConfig.ts';
import { PodSandboxConfig } from '../../../cri/generated/runtime.ts';
import { container, node, pod } from '../nodeAndPod.ts';

test('a minimal pod has a minimal sandbox configuration', () => {
  const plain = pod({}, { labels: { app: 'web', 'io.kubernetes.pod.uid': 'forged' }, annotations: { note: 'hi' } });
  expect(sandboxConfig(plain, 2, node())).toEqual({
    metadata: { name: 'web', namespace: 'shop', uid: 'u-1', attempt: 2 },
    hostname: 'web',
    logDirectory: '/var/log/pods/shop_web_u-1',
    dnsConfig: { servers: ['9.9.9.9'], searches: ['lan'], options: ['edns0'] },
    portMappings: [],
    labels: {
      app: 'web',
      'io.kubernetes.pod.name': 'web',
      'io.kubernetes.pod.namespace': 'shop',
      'io.kubernetes.pod.uid': 'u-1',
    },
    annotations: { note: 'hi', 'statelet.io/owner': '/var/lib/kubelet@node-1' },
    linux: {
      cgroupParent: '/kubepods/besteffort/podu-1',
      securityContext: {
        namespaceOptions: { network: 0, pid: 1, ipc: 0, targetId: '', usernsOptions: undefined },
        selinuxOptions: undefined,
        runAsUser: undefined,
        runAsGroup: undefined,
        readonlyRootfs: false,
        supplementalGroups: [],
        supplementalGroupsPolicy: 0,
        privileged: false,
        seccomp: { profileType: 0, localhostRef: '' },
        apparmor: undefined,
        seccompProfilePath: '',
      },
      sysctls: {},
      overhead: undefined,
      resources: expect.objectContaining({ cpuShares: 2n, cpuQuota: 0n, cpuPeriod: 100_000n, memoryLimitInBytes: 0n }),
    },
    windows: undefined,
  });
});

test('the configuration survives serialization', () => {
  const config = sandboxConfig(pod({ securityContext: { runAsUser: 2 ** 40, fsGroup: 7 } }), 0, node());
  expect(PodSandboxConfig.decode(PodSandboxConfig.encode(config).finish())).toEqual(config);
});

test('a pod on the host network has no hostname and no port mappings, and uses the network namespace of the host', () => {
  const ports = [{ containerPort: 80, hostPort: 80 }];
  const config = sandboxConfig(pod({ hostNetwork: true, containers: [container({ ports })] }), 0, node());
  expect(config).toMatchObject({
    hostname: '',
    portMappings: [],
    linux: { securityContext: { namespaceOptions: { network: 2 } } },
  });
});

test('maps host ports of containers and sidecars only', () => {
  const init = container({ name: 'init', ports: [{ containerPort: 1, hostPort: 1 }] });
  const sidecar = container({
    name: 'proxy',
    restartPolicy: 'Always',
    ports: [{ containerPort: 53, hostPort: 5353, protocol: 'UDP' }],
  });
  const main = container({
    ports: [{ containerPort: 80, hostPort: 8080, hostIP: '127.0.0.1' }, { containerPort: 81 }],
  });
  const config = sandboxConfig(pod({ initContainers: [init, sidecar], containers: [main] }), 0, node());
  expect(config.portMappings).toEqual([
    { protocol: 1, containerPort: 53, hostPort: 5353, hostIp: '' },
    { protocol: 0, containerPort: 80, hostPort: 8080, hostIp: '127.0.0.1' },
  ]);
});

test('the sandbox configuration includes the security context, sysctls, overhead and total resources of the pod', () => {
  const limits = { cpu: '500m', memory: '64Mi' };
  const config = sandboxConfig(
    pod({
      containers: [
        container({ resources: { limits, requests: limits }, securityContext: { privileged: true } }),
        container({ name: 'two', resources: { limits, requests: limits } }),
      ],
      hostPID: true,
      hostIPC: true,
      overhead: { cpu: '100m', memory: '10Mi' },
      securityContext: {
        runAsUser: 1000,
        runAsGroup: 2000,
        fsGroup: 3000,
        supplementalGroups: [4000, 3000],
        supplementalGroupsPolicy: 'Strict',
        sysctls: [{ name: 'net/ipv4/ip_forward', value: '1' }],
        seLinuxOptions: { level: 's0:c1' },
      },
    }),
    0,
    node(),
  );
  expect(config.linux).toMatchObject({
    cgroupParent: '/kubepods/podu-1',
    sysctls: { 'net.ipv4.ip_forward': '1' },
    resources: { cpuShares: 1024n, cpuQuota: 100_000n, memoryLimitInBytes: 134_217_728n },
    overhead: { cpuShares: 102n, cpuQuota: 10_000n, memoryLimitInBytes: 10_485_760n },
    securityContext: {
      namespaceOptions: { network: 0, pid: 2, ipc: 2 },
      runAsUser: { value: 1000n },
      runAsGroup: { value: 2000n },
      supplementalGroups: [3000n, 4000n],
      supplementalGroupsPolicy: 1,
      privileged: true,
      selinuxOptions: { level: 's0:c1', user: '' },
    },
  });
});

test('omits a group without a user, which runtimes would reject', () => {
  const config = sandboxConfig(pod({ securityContext: { runAsGroup: 5 } }), 0, node());
  expect(config.linux?.securityContext).toMatchObject({ runAsUser: undefined, runAsGroup: undefined });
});

test('a pod with a user namespace has its ID mappings in the sandbox configuration', () => {
  const { linux } = sandboxConfig(pod({ hostUsers: false }), 0, node(), { hostId: 65_536, length: 65_536 });
  const ids = [{ hostId: 65_536, containerId: 0, length: 65_536 }];
  expect(linux?.securityContext?.namespaceOptions?.usernsOptions).toEqual({ mode: 0, uids: ids, gids: ids });
});

describe("C25: the cgroup below the node's root", () => {
  test.each([
    ['cgroupfs', '', '/kubepods/besteffort/podu-1'],
    ['cgroupfs', '/', '/kubepods/besteffort/podu-1'],
    ['cgroupfs', '/statelet/node', '/statelet/node/kubepods/besteffort/podu-1'],
    ['systemd', '', 'kubepods-besteffort-podu_1.slice'],
    ['systemd', '/statelet/my-node', 'statelet-my_node-kubepods-besteffort-podu_1.slice'],
    ['systemd', '/a.slice/a-b.slice', 'a-b-kubepods-besteffort-podu_1.slice'],
  ] as const)('with driver %s and root "%s" is %s', (cgroupDriver, cgroupRoot, expected) => {
    expect(cgroupParent(pod(), node({ cgroupDriver, cgroupRoot }))).toBe(expected);
  });
});
