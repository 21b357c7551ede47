import type { NodeDescription } from '../../cri/nodeDescription.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod, PodSpec } from '../../kubernetes/api/schema/pod.ts';
import { cgroupFacts } from '../fakes/cgroups.ts';

const CAPACITY = { cpuMillis: 2_000, memoryBytes: 4 * 1024 ** 3, pods: 110 };

/** Returns a node with default values. */
export function node(facts: Partial<NodeDescription> = {}): NodeDescription {
  return {
    nodeName: 'node-1',
    rootDir: '/var/lib/kubelet',
    podLogsDir: '/var/log/pods',
    owner: '/var/lib/kubelet@node-1',
    runtimeEndpoint: 'unix:///run/containerd/containerd.sock',
    cgroupRoot: '',
    cgroupDriver: 'cgroupfs',
    cgroups: cgroupFacts,
    hostIps: ['192.168.1.10', 'fd01::10'],
    resolvConf: { servers: ['9.9.9.9'], searches: ['lan'], options: ['edns0'] },
    clusterDns: [],
    clusterDomain: 'cluster.local',
    capacity: CAPACITY,
    allocatable: CAPACITY,
    canLowerOomScoreAdj: true,
    seccompDefault: false,
    podDirectory: (uid) => `/var/lib/kubelet/pods/${uid}`,
    ...facts,
  };
}

/** Returns the pod `shop/web` with one container and these changes. */
export function pod(spec: Partial<PodSpec> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop', uid: 'u-1', ...metadata },
    spec: { containers: [container()], ...spec },
  };
}

/** Returns the container `main` with these changes. */
export function container(more: Partial<Container> = {}): Container {
  return { name: 'main', image: 'busybox:1', ...more };
}
