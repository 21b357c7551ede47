import { describe, expect, test } from '@jest/globals';
import { isPortConflict, requestsOf, resourceConflict, shortages } from '../../../kubernetes/resources/requests.ts';
import { aContainer, aPod, requestsWith } from '../fixtures.ts';

const capacity = { cpuMillis: 1000, memoryBytes: 1000, pods: 3 };
const requests = requestsWith;
const port = (number: number, protocol: 'TCP' | 'UDP' = 'TCP', hostIp = '') => ({ port: number, protocol, hostIp });

describe('the requests of a pod', () => {
  test('are millicores, bytes and the host ports of long-running containers', () => {
    const pod = aPod({
      initContainers: [
        aContainer({ name: 'init', ports: [{ containerPort: 1, hostPort: 1 }] }),
        aContainer({
          name: 'side',
          restartPolicy: 'Always',
          ports: [{ containerPort: 2, hostPort: 2, protocol: 'UDP' }],
        }),
      ],
      containers: [
        aContainer({
          resources: { requests: { cpu: '250m', memory: '1Ki' } },
          ports: [
            { containerPort: 3, hostPort: 3, hostIP: '0.0.0.0' },
            { containerPort: 4 },
            { containerPort: 5, hostPort: 0 },
          ],
        }),
      ],
    });
    expect(requestsOf(pod)).toEqual({
      pod: 'web',
      cpuMillis: 250,
      memoryBytes: 1024,
      extra: {},
      hostPorts: [port(2, 'UDP'), port(3)],
      critical: false,
      priority: null,
      qos: 'Burstable',
    });
  });

  test('of a static pod are critical', () => {
    expect(requestsOf(aPod({}, { annotations: { 'kubernetes.io/config.source': 'file' } })).critical).toBe(true);
  });
});

describe('C24: the check whether a node has enough resources', () => {
  test('accepts requests for all free resources', () => {
    expect(resourceConflict(requests({ cpuMillis: 100 }), [requests({ cpuMillis: 900 })], capacity)).toBeUndefined();
  });

  test('rejects larger requests in the words of the kubelet', () => {
    expect(resourceConflict(requests({ cpuMillis: 101 }), [requests({ cpuMillis: 900 })], capacity)).toEqual({
      reason: 'OutOfcpu',
      message: "Node didn't have enough resource: cpu, requested: 101, used: 900, capacity: 1000",
      cause: "requests 0.101 CPUs, but 0.9 of the node's 1 are allocated to pod web",
    });
    expect(resourceConflict(requests({ memoryBytes: 1001 }), [], capacity)).toEqual({
      reason: 'OutOfmemory',
      message: "Node didn't have enough resource: memory, requested: 1001, used: 0, capacity: 1000",
      cause: 'requests 1001 of memory, but the node has 1000',
    });
    expect(resourceConflict(requests(), [requests(), requests(), requests()], capacity)).toEqual({
      reason: 'OutOfpods',
      message: "Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3",
      cause: 'the node allows 3 pods and already has 3',
    });
  });

  test('accepts a pod without requests on an overcommitted node', () => {
    expect(resourceConflict(requests(), [requests({ cpuMillis: 2000 })], capacity)).toBeUndefined();
  });

  test('C46: checks ephemeral storage, huge pages and extended resources, including one that the node does not have', () => {
    const amounts = {
      'ephemeral-storage': '1Gi',
      'hugepages-2Mi': '4Mi',
      'example.com/gpu': '2',
      'example.com/elsewhere': '9',
      'example.com/none': '0',
      storage: '5',
      unheardof: '1',
    };
    const extra = {
      'ephemeral-storage': 2 ** 30,
      'example.com/elsewhere': 9,
      'example.com/gpu': 2,
      'hugepages-2Mi': 2 ** 22,
    };
    const claimed = requestsOf(aPod({ containers: [aContainer({ resources: { requests: amounts } })] }));
    expect(claimed.extra).toEqual(extra);
    const { 'example.com/elsewhere': _elsewhere, ...known } = extra;
    expect(resourceConflict(claimed, [], { ...capacity, extra })).toBeUndefined();
    expect(resourceConflict(claimed, [], { ...capacity, extra: known })).toEqual({
      reason: 'OutOfexample.com/elsewhere',
      message: "Node didn't have enough resource: example.com/elsewhere, requested: 9, used: 0, capacity: 0",
      cause: 'requests 9 of example.com/elsewhere, but the node has 0',
    });
    expect(resourceConflict(claimed, [requests({ extra: { 'example.com/gpu': 1 } })], { ...capacity, extra })).toEqual({
      reason: 'OutOfexample.com/gpu',
      message: "Node didn't have enough resource: example.com/gpu, requested: 2, used: 1, capacity: 2",
      cause: "requests 2 of example.com/gpu, but 1 of the node's 2 are allocated to pod web",
    });
    const { 'hugepages-2Mi': _pages, ...without } = extra;
    expect(resourceConflict(claimed, [], { ...capacity, extra: without })?.reason).toBe('OutOfhugepages-2Mi');
    expect(resourceConflict(claimed, [], capacity)?.reason).toBe('OutOfephemeral-storage');
  });

  test('reports ephemeral storage before other scarce resources', () => {
    const extra = { 'a.example.com/gpu': 2, 'ephemeral-storage': 2 ** 30, 'requests.example.com/gpu': 1 };
    const claimed = requests({ extra });
    const names = (has: Record<string, number>) =>
      shortages(claimed, [], { ...capacity, extra: has }).map(({ resource }) => resource);
    expect(names({ 'a.example.com/gpu': 0 })).toEqual([
      'ephemeral-storage',
      'a.example.com/gpu',
      'requests.example.com/gpu',
    ]);
    expect(names({})).toEqual(['ephemeral-storage', 'a.example.com/gpu', 'requests.example.com/gpu']);
  });

  test('rejects a host port in use', () => {
    expect(
      resourceConflict(requests({ hostPorts: [port(80)] }), [requests({ hostPorts: [port(80)] })], capacity)?.reason,
    ).toBe('NodePorts');
    expect(
      resourceConflict(requests({ hostPorts: [port(80)] }), [requests({ hostPorts: [port(81)] })], capacity),
    ).toBeUndefined();
  });

  test.each([
    [port(80), port(80), true],
    [port(80), port(80, 'UDP'), false],
    [port(80, 'TCP', '10.0.0.1'), port(80), true],
    [port(80), port(80, 'TCP', '10.0.0.1'), true],
    [port(80, 'TCP', '10.0.0.1'), port(80, 'TCP', '10.0.0.2'), false],
    [port(80, 'TCP', 'FD00:0:0:0:0:0:0:1'), port(80, 'TCP', 'fd00::1'), true],
    [port(80, 'TCP', 'fd00::1'), port(80, 'TCP', 'fd00::2'), false],
  ])('detects a port conflict between %j and %j: %s', (one, other, same) => {
    expect(isPortConflict(one, other)).toBe(same);
  });
});
