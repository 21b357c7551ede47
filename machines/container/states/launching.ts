/**
 * Handles a container whose own prerequisites are met. The container waits until its pod launches it. It is then
 * created and started, and runs its postStart hook.
 */
import { and, assign } from 'xstate';
import type { Failure } from '../../../base/failure.ts';
import { requestsDevices } from '../../../kubernetes/resources/requests.ts';
import { NO_LARGE_VARIABLES, NO_LOST_DEVICES, SERVICE_NEVER_FAILS } from '../../shared/coverageGaps.ts';
import type { PortTypes } from '../../shared/ports.ts';
import { actorPath, sharedActor } from '../../shared/views/actorRefs.ts';
import { failureOf } from '../../shared/waiting/failure.ts';
import { retryWaitState } from '../../shared/waiting/waits.ts';
import { hookInput, specOf } from '../context.ts';
import {
  recordFailedPostStartEvent,
  recordLaunchFailedEvent,
  recordOutdatedEvent,
  recordStopEvent,
} from '../recordedEvents.ts';
import { type ContainerArgs, containerSetup } from '../setup.ts';
import { failedPostStartReason } from '../waitingReason.ts';
import { configuring, configuringImplementations, onObjectsChanged } from './configuring.ts';
import { creatingContainer, creatingContainerImplementations } from './creatingContainer.ts';

const guards = {
  canLaunch: ({ context }: ContainerArgs) => context.hasTurn && context.sandbox !== undefined,
  /** Whether the image or the sandbox has disappeared, in which case the pod verifies its sandbox. */
  isImageOrSandboxMissing: ({ context: { id, failure } }: ContainerArgs) =>
    id === undefined && failure?.reason === 'NotFound',
  areDevicesMissing: (_: ContainerArgs, output: PortTypes['prepareDevices']['output']) => output.areDevicesMissing,
  hasPostStartHook: ({ context }: ContainerArgs) => specOf(context).lifecycle?.postStart !== undefined,
  /**
   * Whether device plugins may have to prepare devices. They have already done so for a container that has been
   * created.
   */
  mustPrepareDevices: ({ context }: ContainerArgs) => context.id === undefined && requestsDevices(specOf(context)),
  /** Whether the hook has run and failed. */
  hasHookFailed: (_: ContainerArgs, hook: PortTypes['runHook']['output']) => hook.failure !== null,
};

const failedHookFields = (failure: Failure) => ({ failure, waitingReason: failedPostStartReason(failure) });

const prepareOutput = (event: object): PortTypes['prepareDevices']['output'] =>
  // Safe cast: only the `onDone` transition of `prepareDevices` runs the action that calls this function.
  (event as { readonly output: PortTypes['prepareDevices']['output'] }).output;

const actions = {
  requestDevices: containerSetup.sendTo(sharedActor('admission'), ({ context, event, self }) => ({
    type: 'admission.reallocateDevices',
    pod: context.pod,
    container: context.name,
    at: prepareOutput(event).at,
    holder: actorPath(self),
  })),
};

export const launchingImplementations = { guards, actions };
const launchingSetup = containerSetup
  .extend(configuringImplementations)
  .extend(creatingContainerImplementations)
  .extend(launchingImplementations);

export const launching = launchingSetup.createStateConfig({
  description: 'The prerequisites of the container are met. It is being created and started.',
  meta: { region: 'run', layout: { column: 2 } },
  initial: 'readyToCreate',
  on: {
    // An existing container has to be stopped even without a confirmed start, because the response to its start may
    // have been lost.
    'container.stop': [
      { guard: 'wasNeverCreated', target: 'stopped', actions: 'stopForGood' },
      { target: 'stopping', actions: ['stopForGood', recordStopEvent] },
    ],
    'container.reset': [
      { guard: 'wasNeverCreated', target: 'pending.resetting', actions: 'requireReset' },
      { target: 'stopping', actions: 'requireReset' },
    ],
    'container.update': [
      { guard: and(['changesIdentity', 'wasNeverCreated']), target: 'pending.choosing', actions: 'recordUpdate' },
      {
        guard: 'changesIdentity',
        target: 'stopping',
        actions: ['recordUpdate', 'requireRecreation', recordOutdatedEvent],
      },
      { actions: 'recordUpdate' },
    ],
    'sandbox.lost': [
      // The container has run and exited although the start call has not returned, so its attempt number is used up.
      {
        guard: 'wasExitObserved',
        target: 'ended',
        actions: ['recordLostSandbox', 'clearStartFailure'],
      },
      { target: '.readyToCreate', actions: ['recordLostSandbox', 'forgetContainer'] },
    ],
  },
  states: {
    readyToCreate: {
      description:
        'The containers of a pod start one at a time. The pod decides when this one starts; in a new sandbox, its turn has to come again first.',
      tags: ['waiting', 'readyToCreate'],
      meta: {
        waitsFor: 'its turn to start (containers of a pod start one at a time)',
        rules: ['C9'],
        layout: { isOnMainPath: true },
      },
      entry: { type: 'reportLifecycle', params: { lifecycle: 'readyToCreate' } },
      always: [
        {
          guard: 'isStoppedForGood',
          target: '#container.stopped',
          meta: {
            coverageGap: {
              reason: 'defensive: a terminating pod sends its containers no sandbox; tested on its machine',
            },
          },
        },
        { guard: 'mustRestartWithPod', target: '#container.pending.resetting' },
      ],
      on: {
        'container.launch': [
          { guard: and(['canLaunch', 'mustPrepareDevices']), target: 'preparingDevices' },
          { guard: 'canLaunch', target: 'devicesReady' },
        ],
      },
    },
    preparingDevices: {
      description:
        'Device plugins prepare the devices of the container before it takes a start slot, so that a slow plugin does not occupy a slot.',
      tags: 'working',
      meta: { waitsFor: 'the device plugins to prepare its devices' },
      entry: { type: 'reportLifecycle', params: { lifecycle: 'launching' } },
      invoke: {
        src: 'prepareDevices',
        input: ({ context }) => ({ pod: context.pod, container: context.name }),
        onDone: [
          {
            guard: { type: 'areDevicesMissing', params: ({ event }) => event.output },
            target: 'awaitingDevices',
            actions: 'requestDevices',
            meta: { coverageGap: NO_LOST_DEVICES },
          },
          { target: 'devicesReady' },
        ],
        onError: { target: 'awaitingRetry', actions: ['recordCreateFailure', recordLaunchFailedEvent] },
      },
    },
    awaitingDevices: {
      description:
        'An earlier agent started the container, but the checkpoint does not contain its devices, so devices are allocated to it again.',
      tags: 'working',
      meta: { waitsFor: 'devices to be allocated to it again', coverageGap: NO_LOST_DEVICES },
      on: {
        'container.devicesAllocated': { target: 'devicesReady', meta: { coverageGap: NO_LOST_DEVICES } },
        'container.devicesRefused': {
          target: 'awaitingRetry',
          actions: ['recordCreateFailure', recordLaunchFailedEvent],
          meta: { coverageGap: NO_LOST_DEVICES },
        },
      },
    },
    devicesReady: {
      description:
        'The devices of the container, if it has any, are prepared. It is decided whether its variables have to be read.',
      tags: 'working',
      meta: { layout: { isOnMainPath: true } },
      always: [{ guard: 'mustReadVariables', target: 'configuring' }, { target: 'creatingContainer' }],
    },
    configuring,
    creatingContainer,
    awaitingRetry: {
      ...retryWaitState({
        description:
          'The container could not be created, or the response to the start was lost. Another attempt follows after a delay.',
        waitsFor: 'another attempt to start it',
      }),
      entry: { type: 'reportLifecycle', params: { lifecycle: 'live' } },
      on: {
        // The image is checked and pulled again according to its policy if it has been removed in the meantime (C17).
        'timer.elapsed': [
          { guard: 'isImageOrSandboxMissing', target: '#container.pending.choosing' },
          { target: 'readyToCreate' },
        ],
        'runtime.returned': { guard: 'wasRuntimeUnavailable', target: 'readyToCreate' },
        'container.objectsChanged': onObjectsChanged,
      },
    },
    awaitingChange: {
      description:
        'The container cannot be created from its spec, e.g. because its variables are too large for any runtime. The same attempt is not repeated until the pod or an object of its variables changes.',
      tags: 'retrying',
      meta: {
        waitsFor: 'a change of its spec or of the objects of its variables',
        rules: ['C21'],
        coverageGap: NO_LARGE_VARIABLES,
      },
      entry: { type: 'reportLifecycle', params: { lifecycle: 'live' } },
      on: {
        'container.update': [
          {
            guard: 'changesIdentity',
            target: '#container.pending.choosing',
            actions: 'recordUpdate',
            meta: { coverageGap: NO_LARGE_VARIABLES },
          },
          {
            target: 'awaitingRetry',
            actions: ['recordUpdate', 'shortenWait'],
            meta: { coverageGap: NO_LARGE_VARIABLES },
          },
        ],
        'container.objectsChanged': {
          target: 'awaitingRetry',
          actions: 'shortenWait',
          meta: { coverageGap: NO_LARGE_VARIABLES },
        },
      },
    },
    started: {
      description: 'The process runs. The postStart hook is next, if there is one.',
      tags: 'working',
      always: [{ guard: 'hasPostStartHook', target: 'runningPostStart' }, { target: '#container.running' }],
    },
    runningPostStart: {
      description:
        'The postStart hook runs and blocks the other containers of the pod. If it fails, the container is killed.',
      tags: ['working', 'runningPostStart'],
      meta: { waitsFor: 'its postStart hook', rules: ['C9', 'C10'] },
      invoke: {
        src: 'runHook',
        input: ({ context }) => hookInput(context, 'postStart', undefined),
        onDone: [
          {
            guard: { type: 'hasHookFailed', params: ({ event }) => event.output },
            target: '#container.stopping',
            actions: [
              assign(({ event }) => failedHookFields(failureOf({ ...event, error: event.output.failure }))),
              recordFailedPostStartEvent,
            ],
          },
          {
            target: '#container.running',
            actions: { type: 'recordPodEvent', params: ({ event }) => event.output.warnings ?? [] },
          },
        ],
        onError: {
          target: '#container.stopping',
          actions: [assign(({ event }) => failedHookFields(failureOf(event))), recordFailedPostStartEvent],
          meta: { coverageGap: SERVICE_NEVER_FAILS },
        },
      },
      on: {
        // Only record the update. The running state applies it after the hook has completed.
        'container.update': { actions: 'recordUpdate' },
        'sandbox.lost': { target: '#container.stopping', actions: ['recordLostSandbox', recordStopEvent] },
        'runtime.containerObserved': {
          guard: 'isObservedExited',
          target: '#container.ended',
          actions: 'recordObservedExit',
        },
      },
    },
  },
});
