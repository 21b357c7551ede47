/**
 * Requests that the plugins allocate the devices that are reserved for one pod. Sends one request at a time, for one
 * container and one resource (`allocateContainerResources` in `pkg/kubelet/cm/devicemanager/manager.go`).
 */
import { assertEvent, assign, sendTo, setup } from 'xstate';
import type { ContainerEdits } from '../../kubernetes/devices/devices.ts';
import { type DeviceReservation, withChosenDevices } from '../../kubernetes/devices/reserveDevices.ts';
import type { DeviceAllocationEvent, DeviceReport } from '../shared/events/deviceEvents.ts';
import { port } from '../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { sharedActor } from '../shared/views/actorRefs.ts';
import { failureOf } from '../shared/waiting/failure.ts';

export type DeviceAllocationInput = {
  readonly uid: string;
  /** Namespace and name of the pod. */
  readonly pod: string;
  readonly reservations: readonly DeviceReservation[];
};

export type DeviceAllocationContext = DeviceAllocationInput & {
  /** Number of reservations whose devices have been allocated. */
  readonly allocatedCount: number;
};

const NO_RESERVATION: DeviceReservation = { container: '', resource: '', count: 0, devices: [], reusable: [] };

/** Returns the reservation that is being allocated. */
const currentReservation = ({ reservations, allocatedCount }: DeviceAllocationContext): DeviceReservation =>
  reservations[allocatedCount] ?? NO_RESERVATION;

/** Returns the event fields that identify the reservation that is being allocated. */
const currentDevices = (context: DeviceAllocationContext) => {
  const { container, resource } = currentReservation(context);
  return { uid: context.uid, container, resource };
};

const facts = ({ snapshot: { context } }: ActorInfo<DeviceAllocationContext>) => {
  const { container, resource, devices } = currentReservation(context);
  return { facts: [`pod ${context.pod}, container ${container}`, `${resource}: ${devices.join(', ')}`] };
};

export const deviceAllocationMachine = setup({
  types: {
    input: {} as DeviceAllocationInput,
    context: {} as DeviceAllocationContext,
    events: {} as DeviceAllocationEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { preferDevices: port('preferDevices'), allocateDevices: port('allocateDevices') },
  guards: {
    isDone: ({ context }) => context.allocatedCount === context.reservations.length,
    hasPreferences: ({ context }) => currentReservation(context).preferenceRequest !== undefined,
  },
  actions: {
    reportPreference: sendTo(sharedActor('admission'), ({ context, event }): DeviceReport => {
      // Safe cast: this action belongs to the completion of `preferDevices`.
      const { preferred } = (event as unknown as { output: { preferred: readonly string[] } }).output;
      return { type: 'admission.devicesPreferred', ...currentDevices(context), preferred };
    }),
    recordChoice: assign(({ context, event }) => {
      assertEvent(event, 'allocation.chosen');
      const { reservations } = context;
      return { reservations: withChosenDevices(reservations, currentReservation(context), event.devices) };
    }),
    reportAllocation: sendTo(sharedActor('admission'), ({ context, event }): DeviceReport => {
      // Safe cast: this action belongs to the completion of `allocateDevices`.
      const { edits } = (event as unknown as { output: { edits: ContainerEdits } }).output;
      return { type: 'admission.devicesAllocated', ...currentDevices(context), edits };
    }),
    selectNext: assign(({ context }) => ({ allocatedCount: context.allocatedCount + 1 })),
    reportPreferenceFailure: sendTo(sharedActor('admission'), ({ context, event }): DeviceReport => {
      const { message, at } = failureOf(event);
      const problem = `device plugin GetPreferredAllocation rpc failed with err: ${message}`;
      return { type: 'admission.devicesFailed', uid: context.uid, problem, at };
    }),
    reportFailure: sendTo(sharedActor('admission'), ({ context, event }): DeviceReport => {
      const { message: problem, at } = failureOf(event);
      return { type: 'admission.devicesFailed', uid: context.uid, problem, at };
    }),
  },
}).createMachine({
  id: 'deviceAllocation',
  description: 'The allocation of the devices of one pod by their plugins.',
  meta: { facts },
  context: ({ input }) => ({ ...input, allocatedCount: 0 }),
  initial: 'selecting',
  states: {
    selecting: {
      description: 'The next container and resource are selected.',
      tags: 'working',
      always: [
        { guard: 'isDone', target: 'done' },
        { guard: 'hasPreferences', target: 'queryingPreference' },
        { target: 'allocating' },
      ],
    },
    queryingPreference: {
      description: 'The plugin chooses among the devices that are free.',
      tags: 'working',
      meta: { waitsFor: 'the device plugin to choose devices' },
      invoke: {
        src: 'preferDevices',
        input: ({ context }) => {
          const { resource, preferenceRequest } = currentReservation(context);
          return { resource, request: preferenceRequest ?? { available: [], mustInclude: [], count: 0 } };
        },
        onDone: { target: 'awaitingChoice', actions: 'reportPreference' },
        onError: { target: 'done', actions: 'reportPreferenceFailure' },
      },
    },
    awaitingChoice: {
      description: 'Admission reserves the devices that the plugin prefers, as far as they are still free.',
      tags: 'working',
      meta: { waitsFor: 'admission to reserve the preferred devices' },
      on: { 'allocation.chosen': { target: 'allocating', actions: 'recordChoice' } },
    },
    allocating: {
      description: 'The plugin allocates the devices and says what the container needs in order to use them.',
      tags: 'working',
      meta: { waitsFor: 'the device plugin to allocate devices' },
      invoke: {
        src: 'allocateDevices',
        input: ({ context }) => ({
          ...currentDevices(context),
          pod: context.pod,
          devices: currentReservation(context).devices,
        }),
        onDone: { target: 'selecting', actions: ['reportAllocation', 'selectNext'] },
        onError: { target: 'done', actions: 'reportFailure' },
      },
    },
    done: { description: 'Admission knows the result.', tags: 'steady', type: 'final' },
  },
});
