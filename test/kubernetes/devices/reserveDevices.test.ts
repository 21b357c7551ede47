import { expect, test } from '@jest/globals';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ResourceHints } from '../../../kubernetes/cpus/topologyHints.ts';
import { deviceStatuses, podsWithChangedHealth, withDeviceStatuses } from '../../../kubernetes/devices/deviceStatus.ts';
import {
  countDevices,
  type DeviceAllocation,
  type DeviceResource,
  deviceIdsOf,
  mergeEdits,
  NO_EDITS,
} from '../../../kubernetes/devices/devices.ts';
import {
  capacityForPod,
  type DevicePool,
  deviceRefusal,
  PodDeviceAllocator,
  releaseDevices,
  reserveAgain,
  reserveDevices,
  withChosenDevices,
  withEdits,
  withPreferredDevices,
} from '../../../kubernetes/devices/reserveDevices.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';

const GPU = 'example.com/gpu';
const FPGA = 'example.com/fpga';

const resource = (name: string, ids: readonly string[], more: Partial<DeviceResource> = {}): DeviceResource => ({
  name,
  devices: ids.map((id) => ({ id, isHealthy: true, numaNodes: [] })),
  options: { needsPreStart: false, hasPreferences: false },
  isConnected: true,
  ...more,
});

const allocation = (podUid: string, container: string, name: string, ...ids: string[]): DeviceAllocation => ({
  podUid,
  container,
  resource: name,
  devicesByNode: [{ numaNode: -1, ids }],
  edits: NO_EDITS,
});

const requesting = (name: string, limits: Readonly<Record<string, string>>, more: Partial<Container> = {}): Container =>
  containerWith(name, { resources: { limits: { ...limits } }, ...more });

function podOf(uid: string, spec: Partial<Pod['spec']>): Pod {
  const pod = podWith(uid, { containers: [containerWith('main')], ...spec });
  return { ...pod, metadata: { ...pod.metadata, uid } };
}

const pool: DevicePool = { resources: [resource(GPU, ['g0', 'g1', 'g2', 'g3'])], allocations: [] };

/** Returns the devices of each container, or the problem. */
function reserved(from: DevicePool, pod: Pod): Record<string, readonly string[]> | string {
  const result = reserveDevices(from, pod);
  if ('problem' in result) return result.problem;
  return Object.fromEntries(result.reservations.map(({ container, devices }) => [container, devices]));
}

const gpus = (name: string, count: string, more: Partial<Container> = {}) => requesting(name, { [GPU]: count }, more);

test('containers whose devices are lost reuse those of earlier init containers again, one after the other', () => {
  const first = gpus('first', '1');
  const sidecar = gpus('sidecar', '1', { restartPolicy: 'Always' });
  const main = gpus('main', '1');
  const pod = podOf('a', { initContainers: [first, sidecar], containers: [main, gpus('other', '1')] });
  const again = (ids: readonly string[], container: Container, allocations: readonly DeviceAllocation[]) => {
    const allocator = new PodDeviceAllocator({ resources: [resource(GPU, ids)], allocations }, pod);
    const result = reserveAgain(allocator, pod, container, () => undefined);
    return 'problem' in result ? result.problem : result.reservations.map(({ devices }) => devices);
  };
  const initOnly = [allocation('a', 'first', GPU, 'g0')];
  expect(again(['g0'], first, [])).toEqual([['g0']]);
  expect(again(['g0'], main, initOnly)).toEqual([['g0']]);
  const unavailable = `requested number of devices unavailable for ${GPU}. Requested: 1, Available: 0`;
  expect(again(['g0'], main, [...initOnly, allocation('a', 'sidecar', GPU, 'g0')])).toBe(unavailable);
  expect(again(['g0'], first, [allocation('a', 'main', GPU, 'g0')])).toBe(unavailable);
  expect(again(['g0', 'g1'], sidecar, [...initOnly, allocation('b', 'first', GPU, 'g1')])).toEqual([['g0']]);
});

test('containers of a pod get different devices', () => {
  const pod = podOf('a', { containers: [gpus('one', '2'), gpus('two', '1')] });
  expect(reserved(pool, pod)).toEqual({ one: ['g0', 'g1'], two: ['g2'] });
});

test('a container reuses the devices of earlier init containers', () => {
  const pod = podOf('a', {
    initContainers: [gpus('first', '3'), gpus('second', '1')],
    containers: [gpus('main', '2'), gpus('other', '2')],
  });
  expect(reserved(pool, pod)).toEqual({
    first: ['g0', 'g1', 'g2'],
    second: ['g0'],
    main: ['g1', 'g2'],
    other: ['g0', 'g3'],
  });
});

test('a container does not reuse the devices of a sidecar', () => {
  const sidecar = gpus('sidecar', '1', { restartPolicy: 'Always' });
  const pod = podOf('a', { initContainers: [gpus('init', '2'), sidecar], containers: [gpus('main', '2')] });
  expect(reserved(pool, pod)).toEqual({ init: ['g0', 'g1'], sidecar: ['g0'], main: ['g1', 'g2'] });
});

test('init containers and sidecars of a pod get the devices that a kubelet gives them', () => {
  // The figures of `TestRestartableInitContainerDeviceAllocation` in `devicemanager/manager_test.go`.
  const sixDevices = { ...pool, resources: [resource(GPU, ['d1', 'd2', 'd3', 'd4', 'd5', 'd6'])] };
  const sidecar = { restartPolicy: 'Always' } as const;
  const pod = podOf('a', {
    initContainers: [gpus('init', '3'), gpus('first', '1', sidecar), gpus('second', '2', sidecar)],
    containers: [gpus('main', '1'), gpus('other', '2')],
  });
  const devices = reserved(sixDevices, pod);
  if (typeof devices === 'string') throw new Error(devices);
  const { init = [], ...others } = devices;
  expect(init).toHaveLength(3);
  expect(init).toEqual(expect.arrayContaining([...(others.first ?? []), ...(others.second ?? [])]));
  expect(Object.values(others).map((ids) => ids.length)).toEqual([1, 2, 1, 2]);
  expect(new Set(Object.values(others).flat()).size).toBe(6);
});

test('pods get devices one after the other, as in a kubelet', () => {
  // The figures of `TestPodContainerDeviceAllocation`: pods with containers that request these devices.
  const twoResources = { resources: [resource(GPU, ['dev1', 'dev2']), resource(FPGA, ['dev3', 'dev4'])] };
  let current: DevicePool = { ...twoResources, allocations: [] };
  const countsAfter = (uid: string, limits: Readonly<Record<string, string>>) => {
    const result = reserveDevices(current, podOf(uid, { containers: [requesting('main', limits)] }));
    if ('problem' in result) return result.problem;
    current = result.pool;
    const idsOf = (name: string) =>
      current.allocations.filter((each) => each.resource === name).flatMap((each) => deviceIdsOf(each));
    return [idsOf(GPU).length, idsOf(FPGA).length];
  };
  expect(countsAfter('a', { [GPU]: '2', [FPGA]: '1', cpu: '2' })).toEqual([2, 1]);
  expect(countsAfter('b', { [GPU]: '1' })).toBe(
    `requested number of devices unavailable for ${GPU}. Requested: 1, Available: 0`,
  );
  expect(countsAfter('c', { [FPGA]: '1' })).toEqual([2, 2]);
});

test('devices of other pods are not available', () => {
  const taken = { ...pool, allocations: [allocation('other', 'main', GPU, 'g0', 'g2')] };
  expect(reserved(taken, podOf('a', { containers: [gpus('main', '2')] }))).toEqual({ main: ['g1', 'g3'] });
  expect(reserved(taken, podOf('a', { containers: [gpus('main', '3')] }))).toBe(
    `requested number of devices unavailable for ${GPU}. Requested: 3, Available: 2`,
  );
});

test('a pod that cannot get all of its devices gets none', () => {
  const result = reserveDevices(pool, podOf('a', { containers: [gpus('one', '3'), gpus('two', '2')] }));
  expect(result).toEqual({
    problem: `requested number of devices unavailable for ${GPU}. Requested: 2, Available: 1`,
  });
});

test('resources without a plugin are none of its business', () => {
  const pod = podOf('a', { containers: [requesting('main', { [FPGA]: '1', cpu: '1' })] });
  expect(reserved(pool, pod)).toEqual({});
});

test('a resource of which devices are allocated still counts when its plugin is gone', () => {
  const gone = { resources: [], allocations: [allocation('other', 'main', FPGA, 'f0')] };
  const pod = podOf('a', { containers: [requesting('main', { [FPGA]: '1' })] });
  expect(reserved(gone, pod)).toBe(`cannot allocate unregistered device ${FPGA}`);
});

test('devices that the scheduler has allocated by a claim are left to it', () => {
  const pod = podOf('a', { containers: [gpus('main', '1')] });
  const mapping = { containerName: 'main', resourceName: GPU, requestName: 'r' };
  const status = {
    extendedResourceClaimStatus: { requestMappings: [mapping], resourceClaimName: 'claim' },
  };
  expect(reserved(pool, { ...pod, status })).toEqual({});
});

test.each<[title: string, count: string, resources: readonly DeviceResource[], expected: object | string]>([
  ['are retained', '2', pool.resources, {}],
  [
    'must be as many as requested',
    '1',
    pool.resources,
    `pod "a" container "main" changed request for resource "${GPU}" from 2 to 1`,
  ],
  [
    'must be healthy',
    '2',
    [resource(GPU, ['g1', 'g2'])],
    `previously allocated devices are no longer healthy; cannot allocate unhealthy devices ${GPU}`,
  ],
  [
    'need their plugin',
    '2',
    [resource(GPU, ['g0', 'g1'], { isConnected: false })],
    `no healthy devices present; cannot allocate unhealthy devices ${GPU}`,
  ],
])('the devices of an earlier admission %s', (_, count, resources, expected) => {
  const earlier = { resources, allocations: [allocation('a', 'main', GPU, 'g0', 'g1')] };
  expect(reserved(earlier, podOf('a', { containers: [gpus('main', count)] }))).toEqual(expected);
});

test('reserved devices are replaced by the preferred ones that are still free', () => {
  const choosy = { ...pool, resources: [resource(GPU, ['g0', 'g1', 'g2', 'g3'], choosing)] };
  const first = reserveDevices(choosy, podOf('a', { containers: [gpus('main', '2')] }));
  if ('problem' in first) throw new Error(first.problem);
  const second = reserveDevices(first.pool, podOf('b', { containers: [gpus('main', '1')] }));
  const [reservation] = first.reservations;
  if ('problem' in second || reservation === undefined) throw new Error('nothing was reserved');
  expect(reservation.preferenceRequest).toEqual({ available: ['g0', 'g1', 'g2', 'g3'], mustInclude: [], count: 2 });
  // The other pod has reserved g2 in the meantime.
  const { devices, pool: after } = withPreferredDevices(second.pool, 'a', reservation, ['g2', 'g3']);
  expect(devices).toEqual(['g3', 'g0']);
  expect(after.allocations.map((each) => [each.podUid, deviceIdsOf(each)])).toEqual([
    ['a', ['g3', 'g0']],
    ['b', ['g2']],
  ]);
});

test('a container reuses the devices that are chosen for an init container', () => {
  const choosy = { ...pool, resources: [resource(GPU, ['g0', 'g1', 'g2', 'g3'], choosing)] };
  const init = podOf('a', { initContainers: [gpus('init', '1')], containers: [gpus('main', '2')] });
  const result = reserveDevices(choosy, init);
  if ('problem' in result) throw new Error(result.problem);
  const [first] = result.reservations;
  if (first === undefined) throw new Error('nothing was reserved');
  const preferred = withPreferredDevices(result.pool, 'a', first, ['g3']);
  expect(preferred.pool.allocations.map(deviceIdsOf)).toEqual([['g3'], ['g3', 'g1']]);
  const [, second] = withChosenDevices(result.reservations, first, preferred.devices);
  expect(second).toMatchObject({
    devices: ['g3', 'g1'],
    reusable: ['g3'],
    preferenceRequest: { available: ['g1', 'g2', 'g0', 'g3'], mustInclude: ['g3'], count: 2 },
  });
  // The device that is already reserved remains if it is the preferred one.
  expect(withPreferredDevices(result.pool, 'a', first, ['g0']).devices).toEqual(['g0']);
});
const choosing = { options: { needsPreStart: false, hasPreferences: true } };

test('devices are free again when their pod is gone', () => {
  const taken = { ...pool, allocations: [allocation('gone', 'main', GPU, 'g0'), allocation('b', 'main', GPU, 'g1')] };
  expect(releaseDevices(taken, (uid) => uid === 'gone').allocations.map(({ podUid }) => podUid)).toEqual(['b']);
  expect(releaseDevices(taken, () => false)).toBe(taken);
});

test('only the response of the same container and resource is recorded', () => {
  const before = { ...pool, allocations: [{ ...allocation('a', 'main', GPU, 'g0'), edits: undefined }] };
  const edits = { ...NO_EDITS, cdiDevices: ['example.com/gpu=0'] };
  const key = { podUid: 'a', container: 'main', resource: GPU, edits };
  expect(withEdits(before, key).allocations[0]?.edits).toBe(edits);
  expect(withEdits(before, { ...key, container: 'other' }).allocations[0]?.edits).toBeUndefined();
  expect(withEdits(before, { ...key, resource: FPGA }).allocations[0]?.edits).toBeUndefined();
});

test('a pod with devices is not refused for a capacity that its missing plugin does not report', () => {
  const taken = { resources: [], allocations: [allocation('a', 'main', GPU, 'g0', 'g1')] };
  const capacity = { cpuMillis: 1, memoryBytes: 1, pods: 1, extra: { [GPU]: 0, [FPGA]: 1 } };
  expect(capacityForPod(taken, 'a', capacity).extra).toEqual({ [GPU]: 2, [FPGA]: 1 });
  expect(capacityForPod(taken, 'new', capacity)).toBe(capacity);
});

/** The lists of `TestUpdateCapacityAllocatable` in `devicemanager/manager_test.go`, `-` before an unhealthy device. */
test.each<[list: string, capacity: number, allocatable: number]>([
  ['1 2 -3', 3, 2],
  ['1 2', 2, 2],
  ['1 -2 -3', 3, 1],
  ['-2 -3', 2, 0],
])('all devices count as capacity, and the healthy ones as allocatable: %s', (list, capacity, allocatable) => {
  const devices = list
    .split(' ')
    .map((id) => ({ id: id.replace('-', ''), isHealthy: !id.startsWith('-'), numaNodes: [] }));
  expect(countDevices(resource(GPU, [], { devices }))).toEqual({ resource: GPU, capacity, allocatable });
});

test('no device of a lost plugin is allocatable', () => {
  const devices = [
    { id: 'g0', isHealthy: true, numaNodes: [] },
    { id: 'g1', isHealthy: false, numaNodes: [] },
  ];
  const lost = resource(GPU, [], { devices, isConnected: false });
  expect(countDevices(lost)).toEqual({ resource: GPU, capacity: 2, allocatable: 0 });
});

test('the first of two conflicting edits applies', () => {
  const first = {
    envs: [['A', '1']],
    mounts: [{ containerPath: '/m', hostPath: '/first', isReadOnly: true }],
    devices: [{ containerPath: '/dev/d', hostPath: '/dev/first', permissions: 'r' }],
    annotations: [['a', '1']],
    cdiDevices: ['x=0'],
  } as const;
  const second = {
    envs: [
      ['A', '2'],
      ['B', '2'],
    ],
    mounts: [{ containerPath: '/m', hostPath: '/second', isReadOnly: false }],
    devices: [{ containerPath: '/dev/d', hostPath: '/dev/second', permissions: 'w' }],
    annotations: [['a', '2']],
    cdiDevices: ['x=0', 'x=1'],
  } as const;
  expect(mergeEdits([first, second])).toEqual({
    ...first,
    envs: [
      ['A', '1'],
      ['B', '2'],
    ],
    cdiDevices: ['x=0', 'x=1'],
  });
});

test('a refusal has the reason and the message of a kubelet', () => {
  expect(deviceRefusal('it is broken')).toEqual({
    reason: 'UnexpectedAdmissionError',
    message: 'Allocate failed due to it is broken, which is unexpected',
  });
});

const unhealthyG1 = [
  {
    ...resource(GPU, []),
    devices: [
      { id: 'g0', isHealthy: true, numaNodes: [] },
      { id: 'g1', isHealthy: false, numaNodes: [] },
    ],
  },
];
const withHealth: DevicePool = {
  resources: unhealthyG1,
  allocations: [allocation('a', 'main', GPU, 'g0', 'g1', 'g9')],
};

test('the statuses of containers have the health of their devices; unknown ones count as healthy', () => {
  const statuses = [{ name: 'main' }, { name: 'other' }].map(({ name }) => {
    return { name, ready: true, restartCount: 0, image: '', imageID: '' };
  });
  expect(withDeviceStatuses(statuses, deviceStatuses(withHealth, 'a'))).toEqual([
    {
      ...statuses[0],
      allocatedResourcesStatus: [
        {
          name: GPU,
          resources: [
            { resourceID: 'g0', health: 'Healthy' },
            { resourceID: 'g1', health: 'Unhealthy' },
            { resourceID: 'g9', health: 'Healthy' },
          ],
        },
      ],
    },
    statuses[1],
  ]);
});

test('a lost plugin does not change the health of its devices', () => {
  const lost = { ...withHealth, resources: unhealthyG1.map((each) => ({ ...each, isConnected: false })) };
  expect(podsWithChangedHealth(withHealth, lost)).toEqual([]);
  expect(podsWithChangedHealth({ ...withHealth, resources: pool.resources }, withHealth)).toEqual(['a']);
});

/** Formats the hints by resource, e.g. `0! 0,1`. A resource without a preference is left out. */
const formatHints = (hints: readonly ResourceHints[]): readonly string[] =>
  hints.flatMap((each) =>
    each === undefined
      ? []
      : [each.map(({ nodes, isPreferred }) => `${nodes?.join()}${isPreferred ? '!' : ''}`).join(' ')],
  );

/** Two resources, each with two devices on NUMA node 0 and two on NUMA node 1. */
const onTwoNodes: readonly DeviceResource[] = [GPU, FPGA].map((name) => ({
  ...resource(name, []),
  devices: ['d0', 'd1', 'd2', 'd3'].map((id, index) => ({ id, isHealthy: true, numaNodes: [index < 2 ? 0 : 1] })),
}));

/** Vectors of `getPodScopeTestCases` in `devicemanager/topology_hints_test.go`. */
test.each<[string, Pod, readonly DeviceAllocation[], readonly string[]]>([
  [
    '2 device types, user container only',
    podOf('fakePod', {
      containers: [
        requesting('c1', { [GPU]: '2' }),
        requesting('c2', { [FPGA]: '2' }),
        requesting('c3', { 'example.com/not-registered': '2' }),
      ],
    }),
    [],
    ['0! 1! 0,1', '0! 1! 0,1'],
  ],
  [
    '2 device types, request resources for init containers and user container',
    podOf('fakePod', {
      initContainers: [requesting('i1', { [GPU]: '1', [FPGA]: '1' }), requesting('i2', { [GPU]: '1', [FPGA]: '2' })],
      containers: [
        requesting('c1', { [GPU]: '1', [FPGA]: '1' }),
        requesting('c2', { [GPU]: '1', [FPGA]: '1' }),
        requesting('c3', { 'example.com/not-registered': '1' }),
      ],
    }),
    [],
    ['0! 1! 0,1', '0! 1! 0,1'],
  ],
  [
    '2 device types, user container only, optimal on 1 NUMA node, forced cross-NUMA',
    podOf('fakePod', {
      containers: [
        requesting('c1', { [GPU]: '1', [FPGA]: '1' }),
        requesting('c2', { [GPU]: '1', [FPGA]: '1' }),
        requesting('c3', { 'example.com/not-registered': '1' }),
      ],
    }),
    [allocation('fakeOtherPod', 'c', GPU, 'd0', 'd2'), allocation('fakeOtherPod', 'c', FPGA, 'd0', 'd2')],
    ['0,1', '0,1'],
  ],
])('returns the hints of a kubelet for a pod: %s', (_, pod, allocations, hints) => {
  const allocator = new PodDeviceAllocator({ resources: onTwoNodes, allocations }, pod, [0, 1]);
  expect(formatHints(allocator.podHints())).toEqual(hints);
});

test('a pod whose container has reused the devices of an init container has the same hints again', () => {
  const pod = podOf('a', { initContainers: [gpus('init', '2')], containers: [gpus('main', '1')] });
  const allocations = [allocation('a', 'init', GPU, 'd2', 'd3'), allocation('a', 'main', GPU, 'd2')];
  const allocator = new PodDeviceAllocator({ resources: onTwoNodes, allocations }, pod, [0, 1]);
  expect(formatHints(allocator.podHints())).toEqual(['1! 0,1']);
});

/** Vectors of `TestGetPodDeviceRequest`: the numbers of devices of init containers, containers and the whole pod. */
test.each<[readonly string[], readonly string[], number]>([
  [['2'], [], 2],
  [['2', '4'], [], 4],
  [[], ['2'], 2],
  [['2', '2'], ['1', '1'], 2],
  [['2', '3'], ['1', '1'], 3],
  [['1', '2'], ['1'], 2],
  [['2', '2'], ['3', '3'], 6],
  [['1', '1'], ['2', '2'], 4],
])('a pod with init containers %j and containers %j needs %d devices at once', (initCounts, counts, total) => {
  const pod = podOf('a', {
    initContainers: initCounts.map((count, index) => gpus(`i${index}`, count)),
    containers: counts.map((count, index) => gpus(`c${index}`, count)),
  });
  const hasHints = (deviceCount: number) => {
    const devices = Array.from({ length: deviceCount }, (_, index) => {
      return { id: `d${index}`, isHealthy: true, numaNodes: [0] };
    });
    const resources = [{ ...resource(GPU, []), devices }];
    const [hints = []] = new PodDeviceAllocator({ resources, allocations: [] }, pod, [0, 1]).podHints();
    return hints.length > 0;
  };
  expect([hasHints(total - 1), hasHints(total)]).toEqual([false, true]);
});
