/** All that a container needs itself is there: it is made and started when its pod says so, and its postStart hook is run. */
import { and, assign } from 'xstate';
import type { Failure } from '../../../base/failure.ts';
import { failureOf } from '../../shared/failure.ts';
import type { PortTypes } from '../../shared/ports.ts';
import { hookRequest, specOf } from '../context.ts';
import { recordFailedPostStartEvent, recordOutdatedEvent, recordStopEvent } from '../recordedEvents.ts';
import { type ContainerArgs, containerSetup } from '../setup.ts';
import { failedPostStart } from '../waitingReason.ts';
import { configuring, configuringImplementations, onObjectsChanged } from './configuring.ts';
import { making, makingImplementations } from './making.ts';

const guards = {
  mayLaunch: ({ context }: ContainerArgs) => context.hasTurn && context.sandbox !== undefined,
  /** What it was to be made from is gone: its image, or its sandbox, about which its pod asks. */
  lacksParts: ({ context: { id, failure } }: ContainerArgs) => id === undefined && failure?.reason === 'NotFound',
  hasPostStart: ({ context }: ContainerArgs) => specOf(context).lifecycle?.postStart !== undefined,
  /** The runtime has said that it does not run, and why. */
  hasHookFailed: (_: ContainerArgs, hook: PortTypes['runHook']['output']) => hook.failure !== null,
};

const failedHook = (failure: Failure) => ({ failure, waitingReason: failedPostStart(failure) });

export const launchingImplementations = { guards };
const launchingSetup = containerSetup
  .extend(configuringImplementations)
  .extend(makingImplementations)
  .extend(launchingImplementations);

export const launching = launchingSetup.createStateConfig({
  initial: 'readyToCreate',
  on: {
    // A start whose answer was lost may have worked.
    'container.stop': [
      { guard: 'neverMade', target: 'stopped', actions: 'stopForGood' },
      { target: 'stopping', actions: ['stopForGood', recordStopEvent] },
    ],
    'container.reset': [
      { guard: 'neverMade', target: 'pending.reset', actions: 'askForReset' },
      { target: 'stopping', actions: 'askForReset' },
    ],
    'container.update': [
      { guard: and(['changesIdentity', 'neverMade']), target: 'pending.choosing', actions: 'update' },
      { guard: 'changesIdentity', target: 'stopping', actions: ['update', 'askForNewOne', recordOutdatedEvent] },
      { actions: 'update' },
    ],
    'sandbox.lost': [
      // It has run, although the call that started it has not said so: its number is taken.
      {
        guard: 'hasSeenEnd',
        target: 'ended',
        actions: ['loseSandbox', 'forgetFailure'],
      },
      { target: '.readyToCreate', actions: ['loseSandbox', 'forgetIt'] },
    ],
  },
  states: {
    /** Its pod says when (C9), in a new sandbox after it has had its turn again (C3). */
    readyToCreate: {
      tags: ['waiting', 'readyToCreate'],
      meta: { waitsFor: 'its turn to start (containers of a pod start one at a time)' },
      entry: { type: 'report', params: { lifecycle: 'readyToCreate' } },
      always: [
        { guard: 'mustStay', target: '#container.stopped' },
        { guard: 'mustReset', target: '#container.pending.reset' },
      ],
      on: {
        'container.launch': [
          { guard: and(['mayLaunch', 'takesVariables']), target: 'configuring' },
          { guard: 'mayLaunch', target: 'making' },
        ],
      },
    },
    configuring,
    making,
    awaitingRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to start it', until: 'retryAt' },
      entry: { type: 'report', params: { lifecycle: 'live' } },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: {
        // An image that was removed since it was found is looked for again, and pulled by its policy (C17).
        'timer.elapsed': [{ guard: 'lacksParts', target: '#container.pending.choosing' }, { target: 'readyToCreate' }],
        'runtime.returned': { guard: 'failedForRuntime', target: 'readyToCreate' },
        'container.objectsChanged': onObjectsChanged,
      },
    },
    started: {
      tags: 'working',
      always: [{ guard: 'hasPostStart', target: 'runningPostStart' }, { target: '#container.running' }],
    },
    /** The postStart hook: it holds up the other containers of the pod (C9), and when it fails this one is killed (C10). */
    runningPostStart: {
      tags: ['working', 'runningPostStart'],
      meta: { waitsFor: 'its postStart hook' },
      invoke: {
        src: 'runHook',
        input: ({ context }) => hookRequest(context, 'postStart', undefined),
        onDone: [
          {
            guard: { type: 'hasHookFailed', params: ({ event }) => event.output },
            target: '#container.stopping',
            actions: [
              assign(({ event }) => failedHook(failureOf({ ...event, error: event.output.failure }))),
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
          actions: [assign(({ event }) => failedHook(failureOf(event))), recordFailedPostStartEvent],
        },
      },
      on: {
        // It is looked at when the hook is done.
        'container.update': { actions: 'update' },
        'sandbox.lost': { target: '#container.stopping', actions: ['loseSandbox', recordStopEvent] },
        'runtime.containerObserved': { guard: 'showsEnd', target: '#container.ended', actions: 'recordEnd' },
      },
    },
  },
});
