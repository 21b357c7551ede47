/**
 * Manages the devices of device plugins (`pkg/kubelet/cm/devicemanager`). Publishes the devices to admission, which
 * reserves them. Has the plugins allocate the reserved devices, and saves the allocations before the pods that need
 * them are admitted.
 */
import { assertEvent, assign, enqueueActions, sendTo, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import {
  countDevices,
  type DeviceAllocation,
  type DeviceCount,
  type DeviceResource,
  deviceIdsOf,
  findResource,
  healthyDevices,
} from '../../kubernetes/devices/devices.ts';
import type { DevicePool } from '../../kubernetes/devices/reserveDevices.ts';
import type { DeviceCountReport, DevicesEvent } from '../shared/events/deviceEvents.ts';
import { feedPort, port, timerPort } from '../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { parent, sharedActor } from '../shared/views/actorRefs.ts';
import { failureOf } from '../shared/waiting/failure.ts';
import { after } from '../shared/waiting/waits.ts';
import { deviceAllocationMachine } from './allocation.ts';
import { devicePluginMachine } from './plugin.ts';

/** Time until another attempt to save the allocations, in milliseconds. */
const SAVE_RETRY_MS = 10_000;

/** Resources and allocations that the previous run of the agent persisted. */
export type DevicesInput = DevicePool;

export type DevicesContext = DevicesInput & {
  /** Resources whose plugins did not return within the grace period. The node reports zero devices for each of them. */
  readonly removedResources: readonly string[];
  /** Revision number of the latest allocations. Revision 0 denotes the persisted allocations. */
  readonly revision: number;
  /** Reason why plugins cannot register. */
  readonly problem?: string | undefined;
  readonly failure?: Failure | undefined;
};

const pluginId = (resource: string) => `plugin/${resource}` as const;
const allocationId = (uid: string) => `allocation/${uid}` as const;

/** Returns the device counts that the node reports. */
const deviceCounts = ({ resources, removedResources }: DevicesContext): readonly DeviceCount[] => [
  ...resources.map(countDevices),
  ...removedResources.map((resource) => ({ resource, capacity: 0, allocatable: 0 })),
];

/** Describes the devices of a resource, e.g. `example.com/gpu: 2 devices, 1 healthy, 1 allocated`. */
function resourceText(resource: DeviceResource, allocations: readonly DeviceAllocation[]): string {
  const { name, devices, isConnected } = resource;
  const allocatedIds = new Set(allocations.filter((each) => each.resource === name).flatMap(deviceIdsOf));
  const count = `${devices.length} ${devices.length === 1 ? 'device' : 'devices'}`;
  const plugin = isConnected ? '' : ', its plugin is not connected';
  return `${name}: ${count}, ${healthyDevices(resource).length} healthy, ${allocatedIds.size} allocated${plugin}`;
}

const facts = ({ snapshot: { context } }: ActorInfo<DevicesContext>) => {
  const { resources, allocations, problem } = context;
  return {
    facts: [
      `${resources.length} resources of device plugins`,
      ...(problem === undefined ? [] : [`plugins cannot register: ${problem}`]),
    ],
    lists: {
      devices: resources.map((resource) => resourceText(resource, allocations)),
      'allocated devices': allocations.map(
        (each) =>
          `${each.resource} ${deviceIdsOf(each).join(', ')} for pod ${each.podUid}, container ${each.container}`,
      ),
    },
  };
};

/** Returns the resources with one of them replaced or added. */
const withResource = (resources: readonly DeviceResource[], resource: DeviceResource): readonly DeviceResource[] => {
  const index = resources.findIndex(({ name }) => name === resource.name);
  return index === -1 ? [...resources, resource] : resources.with(index, resource);
};

const newResource = (name: string): DeviceResource => ({
  name,
  devices: [],
  options: { needsPreStart: false, hasPreferences: false },
  isConnected: true,
});

export const devicesMachine = setup({
  types: {
    input: {} as DevicesInput,
    context: {} as DevicesContext,
    events: {} as DevicesEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
    children: {} as { [id: `plugin/${string}`]: 'devicePlugin' } & { [id: `allocation/${string}`]: 'deviceAllocation' },
  },
  actors: {
    devicePlugins: feedPort('devicePlugins'),
    devicePlugin: devicePluginMachine,
    deviceAllocation: deviceAllocationMachine,
    saveDevices: port('saveDevices'),
    timer: timerPort(),
  },
  actions: {
    recordConnection: enqueueActions(({ context, event, enqueue, self }) => {
      assertEvent(event, 'device.pluginConnected');
      const { resource: name, options } = event;
      const resource = { ...(findResource(context.resources, name) ?? newResource(name)), options, isConnected: true };
      enqueue.assign({
        resources: withResource(context.resources, resource),
        removedResources: context.removedResources.filter((each) => each !== name),
      });
      const id = pluginId(name);
      if (lookUp(self.getSnapshot().children, id) === undefined)
        enqueue.spawnChild('devicePlugin', { id, input: { resource: name, isConnected: true } });
      else enqueue.sendTo(id, { type: 'plugin.connected' });
    }),
    recordDevices: assign(({ context, event }) => {
      assertEvent(event, 'device.devicesListed');
      const resource = findResource(context.resources, event.resource) ?? newResource(event.resource);
      return { resources: withResource(context.resources, { ...resource, devices: event.devices }) };
    }),
    recordDisconnection: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'device.pluginDisconnected');
      const resource = findResource(context.resources, event.resource);
      if (resource === undefined) return;
      enqueue.assign({ resources: withResource(context.resources, { ...resource, isConnected: false }) });
      enqueue.sendTo(pluginId(event.resource), { type: 'plugin.disconnected' });
    }),
    removeResource: assign(({ context, event }) => {
      assertEvent(event, 'plugin.expired');
      return {
        resources: context.resources.filter(({ name }) => name !== event.resource),
        removedResources: [...context.removedResources, event.resource],
      };
    }),
    recordProblem: assign(({ event }) => {
      assertEvent(event, 'device.registrationChanged');
      return { problem: event.problem };
    }),
    publishDevices: enqueueActions(({ context, enqueue }) => {
      enqueue.sendTo(sharedActor('admission'), {
        type: 'admission.devicesChanged',
        resources: context.resources,
      });
      enqueue.sendTo(parent<DeviceCountReport>(), { type: 'devices.counted', counts: deviceCounts(context) });
    }),
    startAllocation: enqueueActions(({ event, enqueue, self }) => {
      assertEvent(event, 'devices.reserved');
      const { uid, pod, reservations } = event;
      const id = allocationId(uid);
      if (lookUp(self.getSnapshot().children, id) !== undefined) enqueue.stopChild(id);
      enqueue.spawnChild('deviceAllocation', { id, input: { uid, pod, reservations } });
    }),
    forwardChoice: enqueueActions(({ event, enqueue, self }) => {
      assertEvent(event, 'devices.chosen');
      const id = allocationId(event.uid);
      if (lookUp(self.getSnapshot().children, id) === undefined) return;
      enqueue.sendTo(id, { type: 'allocation.chosen', devices: event.devices });
    }),
    cancelAllocation: enqueueActions(({ event, enqueue, self }) => {
      assertEvent(event, 'devices.released');
      const id = allocationId(event.uid);
      if (lookUp(self.getSnapshot().children, id) !== undefined) enqueue.stopChild(id);
    }),
    stopDoneAllocation: enqueueActions(({ event, enqueue }) => {
      // Safe cast: a done event carries the ID of the completed child as `actorId`.
      const { actorId } = event as unknown as { readonly actorId: string };
      if (actorId.startsWith('allocation/')) enqueue.stopChild(actorId);
    }),
    recordAllocations: assign(({ event }) => {
      assertEvent(event, 'devices.assigned');
      return { allocations: event.allocations, revision: event.revision };
    }),
    confirm: sendTo(sharedActor('admission'), ({ context }) => ({
      type: 'admission.devicesSaved',
      revision: context.revision,
    })),
    recordFailure: assign(({ event }) => ({ failure: failureOf(event) })),
    clearFailure: assign({ failure: undefined }),
  },
}).createMachine({
  id: 'devices',
  description: 'The devices of device plugins, and the containers that have them.',
  meta: { facts },
  context: ({ input, spawn }) => {
    for (const { name } of input.resources)
      spawn('devicePlugin', { id: pluginId(name), input: { resource: name, isConnected: false } });
    return { ...input, removedResources: [], revision: 0 };
  },
  initial: 'waiting',
  invoke: { src: 'devicePlugins' },
  // Publish the resources restored from the previous run of the agent immediately, although they have no devices until
  // their plugins register again.
  entry: 'publishDevices',
  on: {
    'device.pluginConnected': { actions: ['recordConnection', 'publishDevices'] },
    'device.devicesListed': { target: '.saving', actions: ['recordDevices', 'publishDevices'] },
    'device.pluginDisconnected': { actions: ['recordDisconnection', 'publishDevices'] },
    'device.registrationChanged': { actions: 'recordProblem' },
    'plugin.expired': { target: '.saving', actions: ['removeResource', 'publishDevices'] },
    'devices.reserved': { actions: 'startAllocation' },
    'devices.chosen': { actions: 'forwardChoice' },
    'devices.released': { actions: 'cancelAllocation' },
    'devices.assigned': { target: '.saving', actions: 'recordAllocations' },
    'xstate.done.actor.*': { actions: 'stopDoneAllocation' },
  },
  states: {
    waiting: {
      description: 'The allocations are saved. They change as pods come and go.',
      tags: 'steady',
    },
    saving: {
      description: 'The allocations are written to disk. Pods with new devices are admitted afterwards.',
      tags: 'working',
      meta: { waitsFor: 'the allocated devices to be saved' },
      invoke: {
        src: 'saveDevices',
        input: ({ context: { allocations, resources } }) => ({ allocations, resources }),
        onDone: { target: 'waiting', actions: ['clearFailure', 'confirm'] },
        onError: { target: 'awaitingSave', actions: 'recordFailure' },
      },
    },
    awaitingSave: {
      description: 'The allocations could not be written. Pods with new devices wait.',
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to save the allocated devices', afterMs: SAVE_RETRY_MS },
      invoke: after(SAVE_RETRY_MS),
      on: { 'timer.elapsed': 'saving' },
    },
  },
});
