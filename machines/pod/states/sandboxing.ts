/** Finds a usable sandbox for the pod, either the existing one or a new one (C8). Part of the chart in chart.ts. */
import { and, assign } from 'xstate';
import { slotKey } from '../../container/context.ts';
import { killFailedEvents } from '../../shared/events/failureEvents.ts';
import { sharedActor } from '../../shared/views/actorRefs.ts';
import { failureOf } from '../../shared/waiting/failure.ts';
import { retryStateOnReturn, retryWaitState } from '../../shared/waiting/waits.ts';
import { containerId, sendCommands } from '../containers/commands.ts';
import { containersStoppedByRestart } from '../containers/restartedAll.ts';
import { containersAfterInits, earlierTurnNames, withStartingContainers } from '../containers/startOrder.ts';
import { mayRun } from '../context.ts';
import { recordNewSandboxEvent, sandboxUnreadableEvents } from '../recordedEvents.ts';
import { allSandboxIds, decideSandbox, showsUnknownContainers } from '../sandbox.ts';
import { admittedUpdateActions, type PodArgs, podSetup } from '../setup.ts';
import { creatingSandbox, creatingSandboxImplementations } from './creatingSandbox.ts';

const guards = {
  isSandboxReusable: ({ context }: PodArgs) => decideSandbox(context) === 'keep',
  hasRunningContainers: ({ context: { observed } }: PodArgs) => observed.containers.some(mayRun),
  hasUnlistedContainers: ({ context }: PodArgs) => showsUnknownContainers(context),
  hasSandboxes: ({ context }: PodArgs) => allSandboxIds(context).length > 0,
};

const actions = {
  /**
   * Stops the container actors, none of which has created a container yet. They are spawned again with the containers
   * that exist in the runtime.
   */
  stopContainerActors: podSetup.enqueueActions(({ context, enqueue }) => {
    for (const name of Object.keys(context.containers)) {
      const key = slotKey({ pod: context.allocated, name }, 'pull');
      enqueue.stopChild(containerId(name));
      enqueue.sendTo(sharedActor('pullLimiter'), { type: 'slot.release', key });
    }
    enqueue.stopChild('pace');
    enqueue.assign({ containers: {}, turnsTaken: [], queued: undefined });
  }),
  /**
   * Resets the containers that are affected by a restart of all containers. This happens before the next sandbox is
   * created, because that sandbox contains only new containers (C5).
   */
  resetRestartedContainers: podSetup.enqueueActions(({ context, enqueue }) => {
    sendCommands(enqueue, context, [
      { names: containersStoppedByRestart(context), event: { type: 'container.reset' } },
    ]);
  }),
  /**
   * Restores, after a restart of the agent, the record of the init containers that have had their turn. A completed
   * init container that has been garbage-collected is not started.
   */
  restoreTurns: podSetup.enqueueActions(({ context, enqueue }) => {
    const names = earlierTurnNames(context);
    const isObserved = (name: string) => context.observed.containers.some((shown) => shown.name === name);
    const namesToStart = names.filter((name) => isObserved(name) || containersAfterInits(context).includes(name));
    sendCommands(enqueue, context, [{ names: namesToStart, event: { type: 'container.start' } }]);
    enqueue.assign({ turnsTaken: names, containers: withStartingContainers(context, namesToStart) });
  }),
};

export const sandboxingImplementations = { guards, actions };
const sandboxingSetup = podSetup.extend(creatingSandboxImplementations).extend(sandboxingImplementations);

export const sandboxing = sandboxingSetup.createStateConfig({
  description: 'The pod gets a sandbox, with the network namespace and the address that its containers share.',
  tags: 'settingUp',
  meta: { rules: ['C8'], region: 'sandbox' },
  initial: 'deciding',
  on: { 'admission.admitted': { actions: admittedUpdateActions } },
  states: {
    deciding: {
      description: 'The sandbox that the runtime shows is used again or replaced, or the first one is created.',
      tags: ['working', 'withoutContainers'],
      always: [
        { guard: 'isSandboxReusable', target: 'adopting' },
        // No more containers will run. The remaining ones are terminated, and the final status is reported.
        {
          guard: 'needsNoSandbox',
          target: '#pod.terminating.startingGracePeriod',
          actions: ['recordPastInitialization', 'recordPodCompletion'],
        },
        // Inspect the sandbox first, because its state determines whether running containers stop with hooks and grace
        // periods.
        { guard: and(['hasSandboxes', 'hasRunningContainers']), target: 'adopting' },
        { guard: 'hasSandboxes', target: 'stoppingOldSandboxes', actions: ['discardSandbox', recordNewSandboxEvent] },
        { target: 'creatingSandbox' },
      ],
    },
    adopting: {
      description: 'The runtime has a sandbox from an earlier agent and is queried about it.',
      tags: ['working', 'withoutContainers'],
      meta: { waitsFor: 'the runtime to report its sandbox' },
      invoke: {
        src: 'inspectSandbox',
        input: ({ context: { observed } }) => {
          const [sandbox] = observed.sandboxes;
          return { id: sandbox?.id ?? '', sandbox };
        },
        onDone: [
          {
            guard: { type: 'isSandboxStillUsable', params: ({ event }) => event.output },
            target: '#pod.active',
            actions: [
              assign(({ event }) => ({ sandbox: event.output ?? undefined, attempt: event.output?.attempt ?? 0 })),
              'spawnContainers',
              'announceSandbox',
              'restoreTurns',
            ],
          },
          {
            guard: 'hasRunningContainers',
            target: '#pod.resetting.draining',
            actions: [
              assign(({ event }) => ({ sandbox: event.output ?? undefined })),
              'spawnContainers',
              'resetRestartedContainers',
              { type: 'revokeSandbox', params: ({ event }) => event.output },
              'discardSandbox',
            ],
          },
          { target: 'stoppingOldSandboxes', actions: ['discardSandbox', recordNewSandboxEvent] },
        ],
        onError: {
          target: 'awaitingRetry',
          actions: [
            'recordFailure',
            { type: 'recordEvent', params: ({ event }) => sandboxUnreadableEvents(failureOf(event)) },
          ],
        },
      },
    },
    stoppingOldSandboxes: {
      description: 'An old sandbox that cannot be used again is stopped, with everything that still runs in it.',
      tags: ['working', 'withoutContainers'],
      meta: { waitsFor: 'its old sandbox to stop' },
      invoke: {
        src: 'stopSandboxes',
        input: ({ context }) => ({ pod: context.allocated, ids: context.stale }),
        // Do not remove the sandbox here, because its dead containers are retained for their logs. The garbage
        // collection removes the sandbox after them.
        onDone: { target: 'creatingSandbox', actions: assign({ stale: [] }) },
        onError: {
          target: 'awaitingRetry',
          actions: [
            'recordFailure',
            { type: 'recordEvent', params: ({ event }) => killFailedEvents(failureOf(event)) },
          ],
        },
      },
    },
    creatingSandbox,
    awaitingReplacement: {
      ...retryWaitState({
        description:
          'The new sandbox is unusable, because it has no address or a network mode that the pod no longer wants. It is replaced.',
        waitsFor: 'another attempt to create its sandbox (the last one was unusable)',
      }),
      on: { 'timer.elapsed': { target: 'stoppingOldSandboxes', actions: recordNewSandboxEvent } },
    },
    awaitingCreateRetry: {
      ...retryWaitState({
        description: 'The sandbox could not be created. Another attempt follows after a delay.',
        waitsFor: 'another attempt to create its sandbox',
      }),
      on: {
        'timer.elapsed': [
          // The sandbox was created before this agent started, and the first list of the runtime's pods did not contain
          // it.
          { guard: 'hasUnlistedContainers', target: 'deciding', actions: 'stopContainerActors' },
          { target: 'creatingSandbox' },
        ],
        'runtime.returned': [
          { guard: 'wasRuntimeUnavailable', target: 'creatingSandbox', actions: 'forwardRuntimeReturn' },
          { actions: 'forwardRuntimeReturn' },
        ],
      },
    },
    awaitingRetry: retryStateOnReturn('deciding', {
      description: 'The runtime could not report or stop the sandbox. Another attempt follows after a delay.',
      waitsFor: 'another attempt to ask the runtime about its sandbox',
    }),
  },
});
