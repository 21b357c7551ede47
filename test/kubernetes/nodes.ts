import { type NodeObject, type NodeState, nodeObject } from '../../kubernetes/node/nodeObject.ts';

/** Creation time of the nodes of tests, 2026-01-01T00:00:00Z. */
export const STARTED = Date.UTC(2026, 0, 1);

const GIB = 2 ** 30;

/** Returns the health of a ready node, with the changes that a test needs. */
export const healthy = ({ runtime, ...health }: Partial<NodeState['health']> = {}): NodeState['health'] => ({
  pleg: { hasListed: true },
  isInitialized: true,
  isDraining: false,
  ...health,
  runtime: { name: 'containerd', version: 'v1.6.20', ready: true, ...runtime },
});

/** Returns a node with two cores and 4 GiB, some of which are reserved for the system. */
export const aNode = (known: Partial<NodeState> = {}): NodeObject =>
  nodeObject({
    name: 'host',
    labels: { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64', 'node-role.kubernetes.io/edge': '' },
    taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }],
    capacity: { cpuMillis: 2_000, memoryBytes: 4 * GIB, pods: 110, extra: { 'ephemeral-storage': 100 * GIB } },
    allocatable: { cpuMillis: 1_500, memoryBytes: 2 * GIB, pods: 110, extra: { 'ephemeral-storage': 90 * GIB } },
    addresses: ['192.0.2.1', '2001:db8::1'],
    host: {
      machineID: 'machine',
      systemUUID: 'system',
      bootID: 'boot',
      kernelVersion: '6.1.0',
      osImage: 'Debian GNU/Linux 12 (bookworm)',
      architecture: 'amd64',
      kubeletVersion: 'v1.36.0+statelet.0.1.0',
    },
    health: healthy(),
    readySince: STARTED + 1_000,
    startedAt: STARTED,
    now: STARTED + 60_000,
    ...known,
  });
