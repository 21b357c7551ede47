import { expect, test } from '@jest/globals';
import { createActor, fromCallback, setup } from 'xstate';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { initialAssignments } from '../../../kubernetes/cpus/cpuPolicy.ts';
import type { TopologyManager, TopologyPolicyName } from '../../../kubernetes/cpus/topologyHints.ts';
import {
  type DeviceAllocation,
  type DeviceResource,
  deviceIdsOf,
  NO_EDITS,
} from '../../../kubernetes/devices/devices.ts';
import { requestsOf } from '../../../kubernetes/resources/requests.ts';
import { admissionMachine } from '../../../machines/admission/chart.ts';
import { type CpuAllocation, waitDescription } from '../../../machines/admission/context.ts';
import { initialDeviceBook } from '../../../machines/admission/devices.ts';
import { simulatedCpuManager } from '../../../testing/simulation/host/cpuTopologies.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';

const GPU = 'example.com/gpu';

const gpu: DeviceResource = {
  name: GPU,
  devices: ['g0', 'g1'].map((id) => ({ id, isHealthy: true, numaNodes: [] })),
  options: { needsPreStart: false, hasPreferences: false },
  isConnected: true,
};

/** A pod with one container that requests devices. */
function withGpus(uid: string, count: number): Pod {
  const amounts = { [GPU]: String(count) };
  const pod = podWith(uid, {
    containers: [containerWith('main', { resources: { requests: amounts, limits: amounts } })],
  });
  return { ...pod, metadata: { ...pod.metadata, uid } };
}

interface Heard {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Creates an admission with a fake device manager, a fake node and fake pods that record the events they receive. */
function admissionStory({
  resources = [gpu],
  allocations = [],
  cpus,
  topologyManager,
}: {
  resources?: readonly DeviceResource[];
  allocations?: readonly DeviceAllocation[];
  cpus?: CpuAllocation;
  topologyManager?: TopologyManager;
} = {}) {
  const heard: { by: string; event: Heard }[] = [];
  const ear = fromCallback<Heard, string>(({ receive, input: by }) =>
    receive((event) => void heard.push({ by, event })),
  );
  const node = setup({ actors: { admission: admissionMachine, ear } }).createMachine({
    context: ({ spawn }) => {
      for (const id of ['devices', 'a', 'b', 'c', 'container']) spawn('ear', { id, systemId: id, input: id });
      spawn('admission', {
        id: 'admission',
        input: {
          capacity: { cpuMillis: 8_000, memoryBytes: 2 ** 40, pods: 110, extra: { [GPU]: 2 } },
          node: {
            name: 'node-1',
            labels: {},
            taints: [],
            sysctls: [],
            appArmor: true,
            strictGroups: false,
            pressure: [],
            isShuttingDown: false,
          },
          ...(cpus === undefined ? {} : { cpus }),
          ...(topologyManager === undefined ? {} : { topologyManager }),
          devices: initialDeviceBook({ resources, allocations }),
        },
      });
      return {};
    },
    on: { '*': { actions: ({ event }) => void heard.push({ by: 'node', event }) } },
  });
  const root = createActor(node).start();
  const admission = root.getSnapshot().children.admission as ReturnType<typeof createActor<typeof admissionMachine>>;
  const eventsOf = (by: string) => heard.filter((each) => each.by === by).map(({ event }) => event);
  return {
    send: admission.send.bind(admission),
    request: (pod: Pod, isAdopted = false, isRunning = isAdopted) => {
      const { uid } = pod.metadata;
      const requests = requestsOf(pod);
      const flags = { isAdopted, isRunning };
      admission.send({ type: 'admission.request', uid, fullName: uid, pod, requests, ...flags, holder: [uid] });
    },
    allocated: (uid: string) =>
      admission.send({ type: 'admission.devicesAllocated', uid, container: 'main', resource: GPU, edits: NO_EDITS }),
    saved: (revision: number) => admission.send({ type: 'admission.devicesSaved', revision }),
    eventsOf,
    answers: (uid: string) => eventsOf(uid).map(({ type, message }) => message ?? type),
    orders: () => eventsOf('devices'),
    reports: () => eventsOf('node'),
    waitOf: (uid: string) => waitDescription(admission.getSnapshot().context, uid),
    pool: () => admission.getSnapshot().context.devices?.pool.allocations.map(({ podUid }) => podUid),
    devicesOf: (uid: string) => {
      const allocations = admission.getSnapshot().context.devices?.pool.allocations ?? [];
      const ofPod = allocations.filter(({ podUid }) => podUid === uid);
      return Object.fromEntries(ofPod.map((each) => [each.container, deviceIdsOf(each)]));
    },
    exclusiveCpus: () => admission.getSnapshot().context.cpus?.assignments.exclusive,
    entryOf: (uid: string) => admission.getSnapshot().context.entries.find((each) => each.uid === uid),
  };
}

test('reserves devices at once, and admits the pod when they are allocated and saved', () => {
  const story = admissionStory();
  story.request(withGpus('a', 2));
  expect(story.orders()).toMatchObject([
    {
      type: 'devices.reserved',
      uid: 'a',
      pod: 'default/a',
      reservations: [{ container: 'main', devices: ['g0', 'g1'] }],
    },
  ]);
  expect(story.waitOf('a')).toBe(`the device plugin of ${GPU} to allocate 2 devices to container main`);
  story.allocated('a');
  expect(story.waitOf('a')).toBe('the allocation of its devices to be saved');
  expect(story.orders().at(-1)).toMatchObject({
    type: 'devices.assigned',
    revision: 1,
    allocations: [{ podUid: 'a' }],
  });
  expect(story.answers('a')).toEqual([]);
  story.saved(1);
  expect([story.answers('a'), story.waitOf('a')]).toEqual([['admission.admitted'], undefined]);
  expect(story.reports()).toEqual([
    {
      type: 'admission.devicesReported',
      uid: 'a',
      devices: [
        {
          container: 'main',
          resource: GPU,
          devices: [
            { id: 'g0', isHealthy: true },
            { id: 'g1', isHealthy: true },
          ],
        },
      ],
    },
  ]);
});

test('reserved devices are not available to a later pod, which is refused at once', () => {
  const story = admissionStory();
  story.request(withGpus('a', 1));
  story.request(withGpus('b', 2));
  expect(story.answers('b')).toEqual([
    `Allocate failed due to requested number of devices unavailable for ${GPU}. Requested: 2, Available: 1, which is unexpected`,
  ]);
});

test('a pod without devices waits for no plugin', () => {
  const story = admissionStory();
  story.request(withGpus('a', 2));
  const pod = podWith('b', { containers: [containerWith('main')] });
  story.request({ ...pod, metadata: { ...pod.metadata, uid: 'b' } });
  expect([story.answers('a'), story.answers('b')]).toEqual([[], ['admission.admitted']]);
});

test('a pod is refused when its plugin fails, and its devices are free again', () => {
  const story = admissionStory();
  story.request(withGpus('a', 2));
  story.send({ type: 'admission.devicesFailed', uid: 'a', problem: 'the driver is broken', at: 9 });
  expect(story.answers('a')).toEqual(['Allocate failed due to the driver is broken, which is unexpected']);
  expect([story.pool(), story.entryOf('a')]).toMatchObject([[], { allocated: null, holdsName: false }]);
  story.request(withGpus('b', 2));
  expect(story.orders().at(-1)).toMatchObject({ type: 'devices.reserved', uid: 'b' });
});

test('reserves the devices that the plugin prefers', () => {
  const story = admissionStory({ resources: [{ ...gpu, options: { needsPreStart: false, hasPreferences: true } }] });
  story.request(withGpus('a', 1));
  const key = { uid: 'a', container: 'main', resource: GPU };
  story.send({ type: 'admission.devicesPreferred', ...key, preferred: ['g1'] });
  expect(story.orders().at(-1)).toEqual({ type: 'devices.chosen', ...key, devices: ['g1'] });
  story.request(withGpus('b', 1));
  expect(story.orders().at(-1)).toMatchObject({ uid: 'b', reservations: [{ devices: ['g0'] }] });
});

test('a container reuses the device that the plugin prefers for an init container', () => {
  const devices = ['g0', 'g1', 'g2'].map((id) => ({ id, isHealthy: true, numaNodes: [] }));
  const options = { needsPreStart: false, hasPreferences: true };
  const story = admissionStory({ resources: [{ ...gpu, devices, options }] });
  const pod = withGpus('a', 2);
  const one = { [GPU]: '1' };
  const init = containerWith('init', { resources: { requests: one, limits: one } });
  story.request({ ...pod, spec: { ...pod.spec, initContainers: [init] } });
  story.send({ type: 'admission.devicesPreferred', uid: 'a', container: 'init', resource: GPU, preferred: ['g2'] });
  expect(story.devicesOf('a')).toEqual({ init: ['g2'], main: ['g2', 'g1'] });
  const key = { uid: 'a', container: 'main', resource: GPU };
  story.send({ type: 'admission.devicesPreferred', ...key, preferred: ['g2', 'g0'] });
  expect(story.orders().at(-1)).toEqual({ type: 'devices.chosen', ...key, devices: ['g2', 'g0'] });
  expect(story.devicesOf('a')).toEqual({ init: ['g2'], main: ['g2', 'g0'] });
});

test.each(['admission.containersStopped', 'admission.releaseResources', 'admission.release'] as const)(
  'the allocation of a pod is cancelled by %s, and its devices are free',
  (type) => {
    const story = admissionStory();
    story.request(withGpus('a', 2));
    story.send({ type, uid: 'a' });
    expect(story.orders().at(-1)).toEqual({ type: 'devices.released', uid: 'a' });
    expect(story.pool()).toEqual([]);
    story.allocated('a');
    story.saved(1);
    expect(story.answers('a')).toEqual([]);
  },
);

test('the devices of a pod that has stopped are saved as free', () => {
  const story = admissionStory();
  story.request(withGpus('a', 2));
  story.allocated('a');
  story.saved(1);
  story.send({ type: 'admission.containersStopped', uid: 'a' });
  expect(story.orders().at(-1)).toEqual({ type: 'devices.assigned', allocations: [], revision: 2 });
});

const earlier: DeviceAllocation = {
  podUid: 'a',
  container: 'main',
  resource: GPU,
  devicesByNode: [{ numaNode: -1, ids: ['g0', 'g1'] }],
  edits: NO_EDITS,
};

test('a running pod of the previous agent is admitted at once with its devices, also without its plugin', () => {
  const story = admissionStory({ resources: [{ ...gpu, devices: [], isConnected: false }], allocations: [earlier] });
  story.request(withGpus('a', 2), true);
  expect([story.answers('a'), story.orders()]).toEqual([['admission.admitted'], []]);
  expect(story.reports()).toMatchObject([{ type: 'admission.devicesReported', uid: 'a' }]);
});

test('the devices of a running pod of the previous agent are reported when its exclusive CPUs are saved', () => {
  const { cpuPolicy } = simulatedCpuManager('xeonGold');
  const assignments = initialAssignments(cpuPolicy);
  const cpus = { cpuPolicy, assignments, revision: 0, reportedRevision: 0, unconfirmed: [] };
  const story = admissionStory({ allocations: [earlier], cpus });
  const amounts = { cpu: '1', memory: '1Gi', [GPU]: '2' };
  const pod = podWith('a', {
    containers: [containerWith('main', { resources: { requests: amounts, limits: amounts } })],
  });
  story.request({ ...pod, metadata: { ...pod.metadata, uid: 'a' } }, true);
  expect(story.answers('a')).toEqual([]);
  story.send({ type: 'admission.cpusSaved', revision: 1 });
  expect(story.answers('a')).toEqual(['admission.admitted']);
  expect(story.reports()).toMatchObject([{ type: 'admission.devicesReported', uid: 'a' }]);
});

test('a pod that does not run any more is refused until its plugin has registered', () => {
  const story = admissionStory({ resources: [{ ...gpu, devices: [], isConnected: false }], allocations: [earlier] });
  story.request(withGpus('a', 2));
  expect(story.answers('a')).toEqual([
    `Allocate failed due to no healthy devices present; cannot allocate unhealthy devices ${GPU}, which is unexpected`,
  ]);
  expect(story.pool()).toEqual([]);
  story.send({ type: 'admission.devicesChanged', resources: [gpu] });
  story.request(withGpus('b', 2));
  expect(story.orders().at(-1)).toMatchObject({ type: 'devices.reserved', uid: 'b' });
});

test('a pod that is refused for its devices loses its exclusive CPUs too, and is refused only once', () => {
  const { cpuPolicy } = simulatedCpuManager('xeonGold');
  const assigned = { ...initialAssignments(cpuPolicy), exclusive: [{ podUid: 'a', container: 'main', cpus: [1] }] };
  const cpus = { cpuPolicy, assignments: assigned, revision: 0, reportedRevision: 0, unconfirmed: [] };
  const story = admissionStory({
    resources: [{ ...gpu, devices: [], isConnected: false }],
    allocations: [earlier],
    cpus,
  });
  story.request(withGpus('a', 2));
  story.send({ type: 'admission.cpusSaved', revision: 1 });
  expect(story.answers('a')).toEqual([expect.stringContaining('no healthy devices present')]);
  expect(story.exclusiveCpus()).toEqual([]);
});

test('a pod of which only the sandbox is left is refused until its plugin has registered', () => {
  const story = admissionStory({ resources: [{ ...gpu, devices: [], isConnected: false }], allocations: [earlier] });
  story.request(withGpus('a', 2), true, false);
  expect(story.answers('a')).toEqual([expect.stringContaining('no healthy devices present')]);
  expect(story.pool()).toEqual([]);
});

test('a pod that starts again retains its devices, without another allocation', () => {
  const story = admissionStory({ allocations: [earlier] });
  story.request(withGpus('a', 2));
  expect([story.answers('a'), story.orders()]).toEqual([['admission.admitted'], []]);
});

test('the devices of unknown pods are released', () => {
  const story = admissionStory({ allocations: [earlier] });
  story.send({ type: 'admission.podsKnown', uids: ['b'] });
  expect([story.pool(), story.orders()]).toEqual([[], [{ type: 'devices.assigned', allocations: [], revision: 1 }]]);
});

test('a pod waits for the devices of a pod that is leaving', () => {
  const story = admissionStory();
  story.request(withGpus('a', 2));
  story.allocated('a');
  story.saved(1);
  story.send({ type: 'admission.leave', uid: 'a' });
  story.request(withGpus('b', 1));
  expect(story.answers('b')).toEqual([]);
  story.send({ type: 'admission.containersStopped', uid: 'a' });
  expect(story.orders().at(-2)).toMatchObject({ type: 'devices.reserved', uid: 'b' });
});

test('reports the health of devices when it changes, and only then', () => {
  const story = admissionStory({ allocations: [earlier] });
  const devices = gpu.devices.map((each) => (each.id === 'g1' ? { ...each, isHealthy: false } : each));
  story.send({ type: 'admission.devicesChanged', resources: [{ ...gpu, devices }] });
  story.send({ type: 'admission.devicesChanged', resources: [{ ...gpu, devices, isConnected: false }] });
  expect(story.reports()).toMatchObject([
    {
      uid: 'a',
      devices: [
        {
          devices: [
            { id: 'g0', isHealthy: true },
            { id: 'g1', isHealthy: false },
          ],
        },
      ],
    },
  ]);
});

test('a device keeps its last health when its plugin is gone for good', () => {
  const story = admissionStory({ allocations: [earlier] });
  const devices = gpu.devices.map((each) => ({ ...each, isHealthy: false }));
  story.send({ type: 'admission.devicesChanged', resources: [{ ...gpu, devices }] });
  story.send({ type: 'admission.devicesChanged', resources: [] });
  story.send({ type: 'admission.devicesChanged', resources: [] });
  expect(story.reports()).toHaveLength(1);
  story.send({ type: 'admission.devicesChanged', resources: [gpu] });
  expect(story.reports()).toHaveLength(2);
});

const nodesOfDevices = (ids: Readonly<Record<string, number>>): DeviceResource => ({
  ...gpu,
  devices: Object.entries(ids).map(([id, numaNode]) => ({ id, isHealthy: true, numaNodes: [numaNode] })),
});

/** A topology manager on a host with two NUMA nodes. */
const topologyManagerWith = (name: TopologyPolicyName, isPerPod = false): TopologyManager => ({
  policy: { name, isPerPod, prefersClosest: false },
  numaNodes: { ids: [0, 1] },
});

test.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, string>>]>([
  ['BestEffort', {}, {}],
  ['Burstable', { cpu: '1' }, {}],
  ['Guaranteed', { cpu: '1', memory: '1Gi' }, { cpu: '1', memory: '1Gi' }],
])(
  'the topology policy places devices of a pod that is %s, also without a CPU manager and a memory manager',
  (_qos, requests, limits) => {
    const podOf = (uid: string, count: number): Pod => {
      const devices = { [GPU]: String(count) };
      const resources = { requests: { ...requests, ...devices }, limits: { ...limits, ...devices } };
      const pod = podWith(uid, { containers: [containerWith('main', { resources })] });
      return { ...pod, metadata: { ...pod.metadata, uid } };
    };
    const resource = nodesOfDevices({ far: 1, taken: 0 });
    const taken = { ...earlier, podUid: 'other', devicesByNode: [{ numaNode: 0, ids: ['taken'] }] };
    const topologyManager = topologyManagerWith('single-numa-node');
    const story = admissionStory({ resources: [resource], allocations: [taken], topologyManager });
    story.request(podOf('a', 1));
    expect(story.orders().at(-1)).toMatchObject({ reservations: [{ devices: ['far'], numaNodes: [1] }] });
    const both = admissionStory({ resources: [resource], topologyManager });
    both.request(podOf('b', 2));
    expect(both.answers('b')).toEqual(['Resources cannot be allocated with Topology locality']);
  },
);

/** A pod with two containers, each of which requests one device. */
function withTwoGpuContainers(uid: string): Pod {
  const one = { resources: { requests: { [GPU]: '1' }, limits: { [GPU]: '1' } } };
  const pod = podWith(uid, { containers: [containerWith('first', one), containerWith('second', one)] });
  return { ...pod, metadata: { ...pod.metadata, uid } };
}

test.each<[TopologyPolicyName, 'container' | 'pod', string]>([
  ['best-effort', 'container', 'g0 g1'],
  ['restricted', 'container', 'g0 g1'],
  ['single-numa-node', 'container', 'g0 g1'],
  ['best-effort', 'pod', 'g1 g2'],
  ['restricted', 'pod', 'g1 g2'],
  ['single-numa-node', 'pod', 'g1 g2'],
])('the devices of two containers with policy %s and scope %s', (name, scope, devices) => {
  const resource = nodesOfDevices({ g0: 0, g1: 1, g2: 1 });
  const story = admissionStory({ resources: [resource], topologyManager: topologyManagerWith(name, scope === 'pod') });
  story.request(withTwoGpuContainers('a'));
  const { first, second } = story.devicesOf('a');
  expect([first, second].join(' ')).toBe(devices);
});

test.each<[TopologyPolicyName, string]>([
  ['best-effort', 'g0 g1'],
  ['restricted', 'Resources cannot be allocated with Topology locality'],
  ['single-numa-node', 'Resources cannot be allocated with Topology locality'],
])('the policy %s for a pod whose devices are only free on different NUMA nodes', (name, result) => {
  const resource = nodesOfDevices({ g0: 0, g1: 1, g2: 1 });
  const taken = { ...earlier, podUid: 'other', devicesByNode: [{ numaNode: 1, ids: ['g2'] }] };
  const topologyManager = topologyManagerWith(name, true);
  const story = admissionStory({ resources: [resource], allocations: [taken], topologyManager });
  story.request(withTwoGpuContainers('a'));
  const { first, second } = story.devicesOf('a');
  expect(first === undefined ? story.answers('a').join() : [first, second].join(' ')).toBe(result);
});

/** A running pod `a` whose GPU is missing from the checkpoint. */
function reallocationStory(allocations: readonly DeviceAllocation[] = []) {
  const story = admissionStory({ allocations });
  const pod = withGpus('a', 1);
  story.request(pod, true);
  const reallocate = () =>
    story.send({ type: 'admission.reallocateDevices', pod, container: 'main', at: 7, holder: ['container'] });
  const refusal = (message: string, at = 7) => ({
    type: 'container.devicesRefused',
    error: { reason: 'CreateContainerConfigError', message, at },
  });
  return { ...story, pod, reallocate, refusal };
}

test('a container that has lost its devices gets new ones, and is not created until they are saved', () => {
  const story = reallocationStory();
  expect(story.pool()).toEqual([]);
  story.reallocate();
  expect(story.orders()).toMatchObject([{ type: 'devices.reserved', uid: 'a', reservations: [{ devices: ['g0'] }] }]);
  story.allocated('a');
  expect(story.eventsOf('container')).toEqual([]);
  story.saved(1);
  expect(story.eventsOf('container')).toEqual([{ type: 'container.devicesAllocated' }]);
  expect(story.answers('a')).toEqual(['admission.admitted']);
  expect(story.reports()).toMatchObject([{ uid: 'a', devices: [{ container: 'main', devices: [{ id: 'g0' }] }] }]);
});

test('a container whose devices are allocated in the meantime is created with them', () => {
  const story = reallocationStory();
  story.reallocate();
  story.allocated('a');
  story.saved(1);
  story.reallocate();
  story.saved(2);
  expect(story.eventsOf('container')).toHaveLength(2);
  expect(story.pool()).toEqual(['a']);
});

test('a container with devices from one plugin is not created before they are saved, although another plugin is gone', () => {
  const fpga = { ...gpu, name: 'example.com/fpga' };
  const story = admissionStory({ resources: [fpga, gpu] });
  const amounts = { [GPU]: '1', [fpga.name]: '1' };
  const main = containerWith('main', { resources: { requests: amounts, limits: amounts } });
  const pod = podWith('a', { containers: [main] });
  const adopted = { ...pod, metadata: { ...pod.metadata, uid: 'a' } };
  const reallocate = () =>
    story.send({ type: 'admission.reallocateDevices', pod: adopted, container: 'main', at: 7, holder: ['container'] });
  story.request(adopted, true);
  reallocate();
  const edits = { ...NO_EDITS, cdiDevices: ['example.com/fpga=0'] };
  story.send({ type: 'admission.devicesAllocated', uid: 'a', container: 'main', resource: fpga.name, edits });
  story.send({ type: 'admission.devicesFailed', uid: 'a', problem: 'out of order', at: 20_007 });
  story.send({ type: 'admission.devicesChanged', resources: [fpga] });
  reallocate();
  expect(story.orders().at(-1)).toMatchObject({ type: 'devices.assigned', revision: 1, allocations: [{ edits }] });
  expect(story.eventsOf('container').map(({ type }) => type)).toEqual(['container.devicesRefused']);
  expect(story.waitOf('a')).toBe('the allocation of its devices to be saved');
  story.saved(1);
  expect(story.eventsOf('container').at(-1)).toEqual({ type: 'container.devicesAllocated' });
});

test('a container for which no devices are left waits, and its pod retains its resources', () => {
  const devicesByNode = [{ numaNode: -1, ids: ['g0', 'g1'] }];
  const other = { podUid: 'b', container: 'main', resource: GPU, devicesByNode, edits: NO_EDITS };
  const story = reallocationStory([other]);
  story.reallocate();
  const message = `requested number of devices unavailable for ${GPU}. Requested: 1, Available: 0`;
  expect(story.eventsOf('container')).toEqual([story.refusal(message)]);
  expect(story.entryOf('a')?.allocated).not.toBeNull();
});

test('a running pod is not refused if its plugin fails to allocate devices again, and the devices become free', () => {
  const story = reallocationStory();
  story.reallocate();
  story.send({ type: 'admission.devicesFailed', uid: 'a', problem: 'out of order', at: 20_007 });
  expect(story.eventsOf('container')).toEqual([story.refusal('out of order', 20_007)]);
  expect([story.answers('a'), story.pool()]).toEqual([['admission.admitted'], []]);
  expect(story.entryOf('a')?.allocated).not.toBeNull();
});

test('a container is created when its devices are saved, although the exclusive CPUs of its pod are not', () => {
  const { cpuPolicy } = simulatedCpuManager('xeonGold');
  const assignments = initialAssignments(cpuPolicy);
  const cpus = { cpuPolicy, assignments, revision: 0, reportedRevision: 0, unconfirmed: [] };
  const story = admissionStory({ cpus });
  const amounts = { cpu: '1', memory: '1Gi', [GPU]: '1' };
  const main = containerWith('main', { resources: { requests: amounts, limits: amounts } });
  const template = podWith('a', { containers: [main] });
  const pod = { ...template, metadata: { ...template.metadata, uid: 'a' } };
  story.request(pod, true);
  story.send({ type: 'admission.reallocateDevices', pod, container: 'main', at: 7, holder: ['container'] });
  story.allocated('a');
  story.saved(1);
  expect(story.eventsOf('container')).toEqual([{ type: 'container.devicesAllocated' }]);
  expect(story.answers('a')).toEqual([]);
  story.send({ type: 'admission.cpusSaved', revision: 1 });
  expect(story.answers('a')).toEqual(['admission.admitted']);
});

test.each<[TopologyPolicyName | 'none', string]>([
  ['none', 'g0'],
  ['best-effort', 'g1'],
  ['restricted', 'g1'],
  ['single-numa-node', 'g1'],
])('with the policy %s, a container that has lost its device gets one where its CPUs are', (name, device) => {
  const { cpuPolicy } = simulatedCpuManager('altra');
  const assigned = { podUid: 'a', container: 'main', cpus: [80, 81] };
  const { shared } = initialAssignments(cpuPolicy);
  const assignments = { shared: shared.filter((cpu) => !assigned.cpus.includes(cpu)), exclusive: [assigned] };
  const amounts = { cpu: '2', memory: '1Gi', [GPU]: '1' };
  const main = containerWith('main', { resources: { requests: amounts, limits: amounts } });
  const template = podWith('a', { containers: [main] });
  const pod = { ...template, metadata: { ...template.metadata, uid: 'a' } };
  for (const isPerPod of [false, true]) {
    const story = admissionStory({
      cpus: { cpuPolicy, assignments, revision: 0, reportedRevision: 0, unconfirmed: [] },
      resources: [nodesOfDevices({ g0: 0, g1: 1 })],
      ...(name === 'none' ? {} : { topologyManager: topologyManagerWith(name, isPerPod) }),
    });
    story.request(pod, true);
    story.send({ type: 'admission.reallocateDevices', pod, container: 'main', at: 7, holder: ['container'] });
    expect(story.devicesOf('a')).toEqual({ main: [device] });
  }
});

test('a running pod can be updated while devices are allocated to one of its containers again', () => {
  const story = reallocationStory();
  story.reallocate();
  story.request(story.pod);
  expect(story.answers('a')).toEqual(['admission.admitted', 'admission.admitted']);
});
