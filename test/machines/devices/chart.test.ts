import { expect, test } from '@jest/globals';
import { createActor, fromCallback, setup } from 'xstate';
import { type DeviceAllocation, type DeviceResource, NO_EDITS } from '../../../kubernetes/devices/devices.ts';
import type { DeviceReservation } from '../../../kubernetes/devices/reserveDevices.ts';
import { devicesMachine } from '../../../machines/devices/chart.ts';

import { provideActors } from '../../../machines/shared/ports.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import { actorTree } from '../../../machines/shared/views/actorTree.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { START } from '../support/stand.ts';

const GPU = 'example.com/gpu';
const FIVE_MINUTES = 300_000;
const options = { needsPreStart: false, hasPreferences: false };
const healthy = [
  { id: 'g0', isHealthy: true, numaNodes: [] },
  { id: 'g1', isHealthy: true, numaNodes: [] },
];

const allocation: DeviceAllocation = {
  podUid: 'uid',
  container: 'main',
  resource: GPU,
  devicesByNode: [{ numaNode: -1, ids: ['g0'] }],
  edits: NO_EDITS,
};

const reservation = (container: string, more: Partial<DeviceReservation> = {}): DeviceReservation => ({
  container,
  resource: GPU,
  count: 1,
  devices: ['g0'],
  reusable: [],
  ...more,
});

interface Heard {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Creates the device manager with a fake admission and a fake node, both of which record the events they receive. */
function devicesStory(resources: readonly DeviceResource[] = [], allocations: readonly DeviceAllocation[] = []) {
  const ports = new FakePorts(START);
  const heard: Heard[] = [];
  const ear = fromCallback<Heard>(({ receive }) => receive((event) => void heard.push(event)));
  const machine = provideActors(devicesMachine, ports);
  const node = setup({ actors: { devices: machine, ear } }).createMachine({
    context: ({ spawn }) => {
      spawn('ear', { id: 'admission', systemId: 'admission' });
      spawn('devices', { id: 'devices', systemId: 'devices', input: { resources, allocations } });
      return {};
    },
    on: { '*': { actions: ({ event }) => void heard.push(event) } },
  });
  const root = createActor(node).start();
  const actor = root.getSnapshot().children.devices as ReturnType<typeof createActor<typeof machine>>;
  const at = START;
  return {
    ports,
    send: actor.send.bind(actor),
    connect: () => actor.send({ type: 'device.pluginConnected', resource: GPU, options, at }),
    list: (devices = healthy) => actor.send({ type: 'device.devicesListed', resource: GPU, devices, at }),
    disconnect: () => actor.send({ type: 'device.pluginDisconnected', resource: GPU, at }),
    heard: (type: string) => heard.filter((event) => event.type === type),
    counts: () => heard.filter(({ type }) => type === 'devices.counted').at(-1)?.counts,
    published: () => heard.filter(({ type }) => type === 'admission.devicesChanged').at(-1)?.resources,
    state: () => statePath(actor.getSnapshot().value),
    stateOf: (id: string) => {
      const child = Object.entries(actor.getSnapshot().children).find(([each]) => each === id)?.[1];
      const snapshot = child?.getSnapshot();
      return snapshot && 'value' in snapshot ? statePath(snapshot.value) : undefined;
    },
    facts: () => actorTree(actor, { getStateSince: () => START }),
  };
}

test('publishes the devices of a plugin, and saves which resources there are', () => {
  const story = devicesStory();
  story.connect();
  story.list();
  expect(story.counts()).toEqual([{ resource: GPU, capacity: 2, allocatable: 2 }]);
  expect(story.published()).toMatchObject([{ name: GPU, isConnected: true, devices: healthy }]);
  expect(story.ports.asked('saveDevices').at(-1)?.resources).toMatchObject([{ name: GPU }]);
  story.ports.answer('saveDevices', null);
  expect(story.state()).toBe('waiting');
});

test('the devices of a lost plugin are unhealthy at once, and none are left after five minutes', () => {
  const story = devicesStory();
  story.connect();
  story.list();
  story.disconnect();
  expect(story.counts()).toEqual([{ resource: GPU, capacity: 2, allocatable: 0 }]);
  expect(story.stateOf(`plugin/${GPU}`)).toBe('missing');
  story.ports.advance(FIVE_MINUTES - 1);
  expect(story.counts()).toEqual([{ resource: GPU, capacity: 2, allocatable: 0 }]);
  story.ports.advance(1);
  expect(story.counts()).toEqual([{ resource: GPU, capacity: 0, allocatable: 0 }]);
  expect([story.published(), story.stateOf(`plugin/${GPU}`)]).toEqual([[], 'removed']);
});

test('a plugin that registers in time keeps its resource, and one that registers later brings it back', () => {
  const story = devicesStory();
  story.connect();
  story.list();
  story.disconnect();
  story.ports.advance(FIVE_MINUTES - 1);
  story.connect();
  story.list();
  story.ports.advance(FIVE_MINUTES);
  expect(story.counts()).toEqual([{ resource: GPU, capacity: 2, allocatable: 2 }]);
  story.disconnect();
  story.ports.advance(FIVE_MINUTES);
  story.connect();
  story.list();
  expect(story.counts()).toEqual([{ resource: GPU, capacity: 2, allocatable: 2 }]);
});

test('the resources of the previous agent have no devices until their plugins register', () => {
  const known = { name: GPU, devices: [], options, isConnected: false };
  const story = devicesStory([known], [allocation]);
  expect(story.counts()).toEqual([{ resource: GPU, capacity: 0, allocatable: 0 }]);
  expect(story.stateOf(`plugin/${GPU}`)).toBe('missing');
  story.connect();
  story.list();
  expect(story.counts()).toEqual([{ resource: GPU, capacity: 2, allocatable: 2 }]);
  expect(story.ports.asked('saveDevices').at(-1)?.allocations).toEqual([allocation]);
});

test('allocates one container after the other, and reports each', () => {
  const story = devicesStory();
  const reservations = [reservation('one'), reservation('two', { devices: ['g1'] })];
  story.send({ type: 'devices.reserved', uid: 'uid', pod: 'default/web', reservations });
  expect(story.ports.asked('allocateDevices')).toEqual([
    { uid: 'uid', pod: 'default/web', container: 'one', resource: GPU, devices: ['g0'] },
  ]);
  story.ports.answer('allocateDevices', { edits: NO_EDITS });
  expect(story.heard('admission.devicesAllocated')).toEqual([
    { type: 'admission.devicesAllocated', uid: 'uid', container: 'one', resource: GPU, edits: NO_EDITS },
  ]);
  expect(story.stateOf('allocation/uid')).toBe('allocating');
  story.ports.answer('allocateDevices', { edits: NO_EDITS });
  expect(story.heard('admission.devicesAllocated')).toHaveLength(2);
  expect(story.stateOf('allocation/uid')).toBeUndefined();
});

test('allocates the devices that admission has chosen by the preference of the plugin', () => {
  const story = devicesStory();
  const preferenceRequest = { available: ['g0', 'g1'], mustInclude: [], count: 1 };
  const reservations = [reservation('main', { preferenceRequest })];
  story.send({ type: 'devices.reserved', uid: 'uid', pod: 'default/web', reservations });
  expect(story.ports.asked('preferDevices')).toEqual([{ resource: GPU, request: preferenceRequest }]);
  story.ports.answer('preferDevices', { preferred: ['g1'] });
  const key = { uid: 'uid', container: 'main', resource: GPU };
  expect(story.heard('admission.devicesPreferred')).toEqual([
    { type: 'admission.devicesPreferred', ...key, preferred: ['g1'] },
  ]);
  expect(story.stateOf('allocation/uid')).toBe('awaitingChoice');
  story.send({ type: 'devices.chosen', ...key, devices: ['g1'] });
  expect(story.ports.asked('allocateDevices')).toMatchObject([{ devices: ['g1'] }]);
});

test.each([
  ['allocateDevices', reservation('main'), 'the driver is broken'],
  [
    'preferDevices',
    reservation('main', { preferenceRequest: { available: [], mustInclude: [], count: 1 } }),
    'device plugin GetPreferredAllocation rpc failed with err: the driver is broken',
  ],
] as const)('reports a failure of %s in the words of a kubelet', (port, failing, problem) => {
  const story = devicesStory();
  const reservations = [failing, reservation('other')];
  story.send({ type: 'devices.reserved', uid: 'uid', pod: 'default/web', reservations });
  story.ports.advance(20_000);
  story.ports.fail(port, 'RuntimeError', 'the driver is broken');
  const at = story.ports.now;
  expect(story.heard('admission.devicesFailed')).toEqual([
    { type: 'admission.devicesFailed', uid: 'uid', problem, at },
  ]);
  expect(story.stateOf('allocation/uid')).toBeUndefined();
  expect(story.ports.pending()).toEqual([]);
});

test('cancels the allocation of a pod that no longer needs it', () => {
  const story = devicesStory();
  story.send({ type: 'devices.reserved', uid: 'uid', pod: 'default/web', reservations: [reservation('main')] });
  story.send({ type: 'devices.released', uid: 'uid' });
  expect([story.stateOf('allocation/uid'), story.heard('admission.devicesFailed')]).toEqual([undefined, []]);
});

test('pods are admitted only when their allocations are on disk, for which it tries again', () => {
  const story = devicesStory();
  story.send({ type: 'devices.assigned', allocations: [allocation], revision: 1 });
  story.ports.fail('saveDevices', 'StoreFailed', 'no space left on device');
  expect([story.state(), story.heard('admission.devicesSaved')]).toEqual(['awaitingSave', []]);
  story.ports.advance(10_000);
  story.ports.answer('saveDevices', null);
  expect(story.heard('admission.devicesSaved')).toEqual([{ type: 'admission.devicesSaved', revision: 1 }]);
});

test('explains the plugins, their devices and who has them', () => {
  const story = devicesStory([], [allocation]);
  story.connect();
  story.list([...healthy, { id: 'g2', isHealthy: false, numaNodes: [] }]);
  story.send({ type: 'device.registrationChanged', problem: 'the socket is in use', at: START });
  const text = JSON.stringify(story.facts());
  expect(text).toContain(`${GPU}: 3 devices, 2 healthy, 1 allocated`);
  expect(text).toContain(`${GPU} g0 for pod uid, container main`);
  expect(text).toContain('plugins cannot register: the socket is in use');
  story.disconnect();
  expect(JSON.stringify(story.facts())).toContain('3 devices, 0 healthy, 1 allocated, its plugin is not connected');
});
