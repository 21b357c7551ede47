import { expect, test } from '@jest/globals';
import { mergeHints } from '../../../kubernetes/cpus/topologyHints.ts';
import { chooseDevices, type DeviceRequest } from '../../../kubernetes/devices/chooseDevices.ts';
import { deviceHints } from '../../../kubernetes/devices/deviceHints.ts';
import type { DeviceResource, PluginDevice } from '../../../kubernetes/devices/devices.ts';
import { hintCases } from './hintVectors.ts';

const device = (id: string, ...numaNodes: number[]): PluginDevice => ({ id, isHealthy: true, numaNodes });

/** Returns the devices from `Dev<first>` to `Dev<last>`, all on the same NUMA node. */
const range = (first: number, last: number, node: number): PluginDevice[] =>
  Array.from({ length: last - first + 1 }, (_, index) => device(`Dev${first + index}`, node));

const resourceOf = (devices: readonly PluginDevice[], hasPreferences = false): DeviceResource => ({
  name: 'resource',
  devices,
  options: { needsPreStart: false, hasPreferences },
  isConnected: true,
});

const requestOf = (devices: readonly PluginDevice[], count: number, more: Partial<DeviceRequest> = {}) => ({
  resource: resourceOf(devices),
  resourceName: 'resource',
  count,
  inUse: new Set<string>(),
  reusable: [],
  numaNodes: undefined,
  ...more,
});

/** Returns the number of chosen devices on each NUMA node. */
function alignmentOf(devices: readonly PluginDevice[], chosen: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const id of chosen)
    for (const node of devices.find((each) => each.id === id)?.numaNodes ?? []) counts[node] = (counts[node] ?? 0) + 1;
  return counts;
}

const onTwoNodes = [device('Dev1', 0), device('Dev2', 1), device('Dev3', 0), device('Dev4', 1)];
const sixOnTwoNodes = [...onTwoNodes, device('Dev5', 0), device('Dev6', 1)];
const eightOnFourNodes = [1, 2, 3, 4, 5, 6, 7, 8].map((each) => device(`Dev${each}`, (each - 1) % 4));
const hundreds = [...range(0, 99, 0), ...range(100, 199, 1)];
const mostOnNode1 = [...range(0, 2, 0), ...range(3, 99, 1)];

/** `TestTopologyAlignedAllocation` in `devicemanager/topology_hints_test.go`. */
const alignments: readonly [
  title: string,
  devices: readonly PluginDevice[],
  count: number,
  numaNodes: readonly number[],
  alignment: Record<string, number>,
  preferred?: readonly string[],
  accepted?: readonly string[],
][] = [
  ['no alignment', [device('Dev1'), device('Dev2')], 1, [0, 1], {}],
  ['1, partial alignment', [device('Dev1'), device('Dev2', 1)], 1, [1], { 1: 1 }],
  ['1 on node 0', [device('Dev1', 0), device('Dev2', 1)], 1, [0], { 0: 1 }],
  ['1 on node 1', [device('Dev1', 0), device('Dev2', 1)], 1, [1], { 1: 1 }],
  ['2 on node 0', onTwoNodes, 2, [0], { 0: 2 }],
  ['2 on node 1', onTwoNodes, 2, [1], { 1: 2 }],
  ['4, more than node 0 has', sixOnTwoNodes, 4, [0], { 0: 3, 1: 1 }],
  ['4, more than node 1 has', sixOnTwoNodes, 4, [1], { 0: 1, 1: 3 }],
  ['4 on two of four nodes', eightOnFourNodes, 4, [1, 3], { 1: 2, 3: 2 }],
  ['5, preferred on node 0', hundreds, 5, [0], { 0: 5 }, ['Dev0', 'Dev19', 'Dev83', 'Dev42', 'Dev77']],
  [
    '5, preferred ones of another node are ignored',
    hundreds,
    5,
    [0],
    { 0: 5 },
    ['Dev0', 'Dev19', 'Dev83', 'Dev150', 'Dev186'],
    ['Dev0', 'Dev19', 'Dev83'],
  ],
  [
    '5, preferred ones that do not exist are ignored',
    range(0, 99, 1),
    5,
    [1],
    { 1: 5 },
    ['Dev0', 'Dev19', 'Dev83', 'bogus0', 'bogus1'],
    ['Dev0', 'Dev19', 'Dev83'],
  ],
  ['5, preferred beyond node 0', mostOnNode1, 5, [0], { 0: 3, 1: 2 }, ['Dev0', 'Dev1', 'Dev2', 'Dev42', 'Dev83']],
  [
    '5, preferred beyond node 0, and one that does not exist',
    mostOnNode1,
    5,
    [0],
    { 0: 3, 1: 2 },
    ['Dev0', 'Dev1', 'Dev2', 'Dev42', 'bogus0'],
    ['Dev0', 'Dev1', 'Dev2', 'Dev42'],
  ],
];

test.each(
  alignments.map(([title, devices, count, numaNodes, alignment, preferred = [], accepted = preferred]) => {
    return { title, devices, count, numaNodes, alignment, preferred, accepted };
  }),
)('chooses aligned devices: $title', ({ devices, count, numaNodes, alignment, preferred, accepted }) => {
  const choice = chooseDevices(requestOf(devices, count, { numaNodes, preferred }));
  if (!('devices' in choice)) throw new Error(choice.problem);
  expect(choice.devices).toHaveLength(count);
  expect(alignmentOf(devices, choice.devices)).toEqual(alignment);
  expect(choice.devices).toEqual(expect.arrayContaining([...accepted]));
});

/** The devices of `TestFilterByAffinity` with the NUMA nodes 1 and 2, of which 2 is chosen. */
const overlapping = [device('dev1', 1), device('dev2', 1, 2), device('dev3', 2), device('dev4', 2), device('dev5')];

test.each<[available: readonly string[], aligned: readonly string[]]>([
  [['dev1', 'dev2'], ['dev2']],
  [
    ['dev1', 'dev2', 'dev3', 'dev4'],
    ['dev2', 'dev3', 'dev4'],
  ],
])('prefers the devices that have the chosen NUMA node among others: of %j those are %j', (available, aligned) => {
  const inUse = new Set(overlapping.map(({ id }) => id).filter((id) => !available.includes(id)));
  const choose = (count: number) => chooseDevices(requestOf(overlapping, count, { numaNodes: [2], inUse }));
  expect(choose(aligned.length)).toEqual({ devices: aligned });
  expect(choose(available.length)).toEqual({ devices: expect.arrayContaining([...available]) });
});

const eightOnNode0 = range(0, 7, 0);
const fourOnEach = [...range(0, 3, 0), ...range(4, 7, 1)];
const all = ['Dev0', 'Dev1', 'Dev2', 'Dev3', 'Dev4', 'Dev5', 'Dev6', 'Dev7'];

/** `TestGetPreferredAllocationParameters` in `devicemanager/topology_hints_test.go`. */
test.each<
  [
    title: string,
    devices: readonly PluginDevice[],
    count: number,
    inUse: string[],
    reusable: string[],
    available: string[],
    must: string[],
  ]
>([
  ['1', range(0, 3, 0), 1, [], [], ['Dev0', 'Dev1', 'Dev2', 'Dev3'], []],
  ['4 of which 2 are reused', eightOnNode0, 4, ['Dev0', 'Dev5'], ['Dev0', 'Dev5'], all, ['Dev0', 'Dev5']],
  [
    '4 of which 2 are reused while others are in use',
    eightOnNode0,
    4,
    ['Dev0', 'Dev5', 'Dev4', 'Dev1'],
    ['Dev0', 'Dev5'],
    ['Dev0', 'Dev2', 'Dev3', 'Dev5', 'Dev6', 'Dev7'],
    ['Dev0', 'Dev5'],
  ],
  [
    '6 on two nodes of which 2 are reused',
    fourOnEach,
    6,
    ['Dev1', 'Dev6'],
    ['Dev1', 'Dev6'],
    all,
    ['Dev0', 'Dev1', 'Dev2', 'Dev3', 'Dev6'],
  ],
  [
    '6 on two nodes of which 2 are reused while others are in use',
    fourOnEach,
    6,
    ['Dev0', 'Dev1', 'Dev6', 'Dev7'],
    ['Dev1', 'Dev6'],
    ['Dev1', 'Dev2', 'Dev3', 'Dev4', 'Dev5', 'Dev6'],
    ['Dev1', 'Dev2', 'Dev3', 'Dev6'],
  ],
])('requests the preference of the plugin: %s', (_, devices, count, inUse, reusable, available, mustInclude) => {
  const resource = resourceOf(devices, true);
  const request = { ...requestOf(devices, count), resource, inUse: new Set(inUse), reusable, numaNodes: [0] };
  const choice = chooseDevices(request);
  if (!('devices' in choice)) throw new Error(choice.problem);
  const { available: offered = [], mustInclude: required = [], count: size } = choice.preferenceRequest ?? {};
  expect({ available: offered.toSorted(), mustInclude: required.toSorted(), size }).toEqual({
    available,
    mustInclude,
    size: count,
  });
});

test('does not request a preference if there is nothing to choose', () => {
  const devices = [device('Dev0', 0), device('Dev1', 1)];
  const request = { ...requestOf(devices, 1), resource: resourceOf(devices, true) };
  const inUse = new Set(['Dev0']);
  expect(chooseDevices({ ...request, inUse, reusable: ['Dev0'] })).toEqual({ devices: ['Dev0'] });
  expect(chooseDevices({ ...request, numaNodes: [1] })).toEqual({ devices: ['Dev1'] });
});

const unhealthy: PluginDevice = { id: 'Dev0', isHealthy: false, numaNodes: [] };

test.each<[title: string, request: Partial<DeviceRequest>, problem: string]>([
  ['an unknown resource', { resource: undefined }, 'cannot allocate unregistered device resource'],
  [
    'only unhealthy devices',
    { resource: resourceOf([unhealthy]) },
    'no healthy devices present; cannot allocate unhealthy devices resource',
  ],
  [
    'a lost plugin',
    { resource: { ...resourceOf([device('Dev0')]), isConnected: false } },
    'no healthy devices present; cannot allocate unhealthy devices resource',
  ],
  [
    'too few devices',
    { count: 2, inUse: new Set(['Dev0']) },
    'requested number of devices unavailable for resource. Requested: 2, Available: 1',
  ],
])('refuses %s with the message of a kubelet', (_, request, problem) => {
  expect(chooseDevices(requestOf([device('Dev0'), device('Dev1')], 1, request))).toEqual({ problem });
});

test.each(hintCases)('returns the hints of a kubelet: $title', ({ requests, devices, allocated, hints }) => {
  const existing = (name: string) =>
    allocated.flatMap(([pod, container, resource, ids]) =>
      pod === 'fakePod' && container === 'fakeContainer' && resource === name ? ids : [],
    );
  const actual = requests.map(([name, count]) => {
    const own = devices.find(([resource]) => resource === name)?.[1] ?? [];
    const inUse = new Set(allocated.flatMap(([, , resource, ids]) => (resource === name ? ids : [])));
    const result = deviceHints({
      resource: resourceOf(own.map(([id, nodes]) => device(id, ...nodes))),
      count,
      inUse,
      reusable: [],
      existing: existing(name),
      hostNodes: [0, 1],
    });
    return [name, result?.map(({ nodes, isPreferred }) => [nodes, isPreferred])];
  });
  const sorted = (list: unknown) => JSON.stringify(list);
  expect(actual.map(sorted).sort()).toEqual(hints.map(sorted).sort());
});

/** Returns the hints for resource `gpu` in the vectors that limit the NUMA nodes to those with devices. */
function gpuHints(
  devices: readonly PluginDevice[],
  hostNodes: readonly number[],
  {
    available,
    reusable = [],
    count = 1,
  }: { available: readonly string[]; reusable?: readonly string[]; count?: number },
) {
  const inUse = new Set(devices.map(({ id }) => id).filter((id) => !available.includes(id)));
  return deviceHints({ resource: resourceOf(devices), count, inUse, reusable, existing: [], hostNodes });
}

const formatHints = (hints: ReturnType<typeof deviceHints>): string =>
  (hints ?? []).map(({ nodes, isPreferred }) => `${nodes?.join()}${isPreferred ? '!' : ''}`).join(' ');

/** `TestGenerateDeviceTopologyHintsFiltersNUMANodes` and `TestDeviceNUMANodes`. */
test.each<[string, string, string]>([
  ['two node machine, device on one node', '0!', formatHints(gpuHints([device('a', 0)], [0, 1], { available: ['a'] }))],
  [
    'large NUMA machine with devices on small subset',
    '0! 1! 0,1',
    formatHints(
      gpuHints(
        [device('gpu0', 0), device('gpu1', 1)],
        Array.from({ length: 34 }, (_, node) => node),
        { available: ['gpu0', 'gpu1'] },
      ),
    ),
  ],
  [
    'devices span all NUMA nodes',
    '0! 1! 0,1',
    formatHints(gpuHints([device('a', 0), device('b', 1)], [0, 1], { available: ['a', 'b'] })),
  ],
  [
    'reusable device on filtered node',
    '0!',
    formatHints(gpuHints([device('a', 0)], [0, 1, 2, 3], { available: [], reusable: ['a'] })),
  ],
  [
    'reusable and available on different nodes',
    '0,1!',
    formatHints(
      gpuHints([device('a', 0), device('b', 1)], [0, 1, 2, 3], { available: ['b'], reusable: ['a'], count: 2 }),
    ),
  ],
  [
    'collects NUMA nodes from all devices',
    '3! 5! 3,5',
    formatHints(gpuHints([device('a', 3), device('b', 5)], [0, 3, 5, 7], { available: ['a', 'b'] })),
  ],
  [
    'device without topology is ignored',
    '4!',
    formatHints(gpuHints([device('a', 4), device('b')], [0, 4], { available: ['a', 'b'] })),
  ],
  [
    'unknown NUMA IDs from device plugin are dropped',
    '0!',
    formatHints(gpuHints([device('a', 0), device('b', 99)], [0, 1], { available: ['a', 'b'] })),
  ],
])('considers only NUMA nodes that have devices: %s', (_, expected, hints) => {
  expect(hints).toBe(expected);
});

/** `TestFilteredDeviceHintsMergeWithOtherProviders`: the device's node, and the other node of the host. */
test.each([
  [0, 1],
  [1, 0],
  [7, 3],
])('hints for a device on NUMA node %d merge with those for CPUs and memory, also on node %d', (node, otherNode) => {
  const ids = [node, otherNode].toSorted((first, second) => first - second);
  const hints = gpuHints([device('gpu0', node)], ids, { available: ['gpu0'] });
  const otherHints = [
    { nodes: [node], isPreferred: true },
    { nodes: ids, isPreferred: false },
  ];
  for (const name of ['best-effort', 'restricted'] as const) {
    const policy = { name, isPerPod: false, prefersClosest: false };
    const merged = mergeHints(policy, { ids }, [hints, otherHints, otherHints]);
    expect(merged).toEqual({ hint: { nodes: [node], isPreferred: true }, isAdmitted: true });
  }
});
