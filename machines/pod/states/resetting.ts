/**
 * Replaces a sandbox that is lost or unusable. Everything in the old sandbox is stopped before the pod gets a new one
 * (C8). Part of the chart in chart.ts.
 */
import { and } from 'xstate';
import { RARELY_TAKEN } from '../../shared/coverageGaps.ts';
import { statusUnknownEvents } from '../../shared/events/failureEvents.ts';
import { failureOf } from '../../shared/waiting/failure.ts';
import { retryWaitState } from '../../shared/waiting/waits.ts';
import { censusOf } from '../containers/census.ts';
import { recordNewSandboxEvent } from '../recordedEvents.ts';
import { isLastSandbox } from '../sandbox.ts';
import { admittedUpdateActions, type PodArgs, podSetup } from '../setup.ts';

/** The lifecycles in which a container may have a process. */
const LIFECYCLES_WITH_PROCESS = ['launching', 'live', 'running'] as const;

const guards = {
  /** Whether no container has a process now, although some may start again. */
  haveContainersStopped: ({ context }: PodArgs) =>
    LIFECYCLES_WITH_PROCESS.every((lifecycle) => censusOf(context).namesIn(lifecycle).size === 0),
  isLastSandbox: ({ context }: PodArgs) => isLastSandbox(context),
};

export const resettingImplementations = { guards };

export const resetting = podSetup.extend(resettingImplementations).createStateConfig({
  description: 'The sandbox seems to be lost. Nothing starts in it until that is clear.',
  meta: { rules: ['C8'], region: 'sandbox' },
  initial: 'verifying',
  on: { 'admission.admitted': { actions: admittedUpdateActions } },
  states: {
    verifying: {
      description:
        'A list of the runtime did not contain the sandbox, but may be outdated. Only a query about this sandbox is conclusive.',
      tags: 'working',
      meta: { waitsFor: 'the runtime to report its sandbox' },
      invoke: {
        src: 'inspectSandbox',
        input: ({ context: { sandbox } }) => ({ id: sandbox?.id ?? '', sandbox }),
        onDone: [
          {
            guard: { type: 'isSandboxStillUsable', params: ({ event }) => event.output },
            target: '#pod.active.resumed',
          },
          {
            target: 'draining',
            actions: [{ type: 'revokeSandbox', params: ({ event }) => event.output }, 'discardSandbox'],
          },
        ],
        onError: {
          target: 'awaitingRetry',
          actions: [
            'recordFailure',
            { type: 'recordEvent', params: ({ event }) => statusUnknownEvents(failureOf(event)) },
          ],
        },
      },
    },
    awaitingRetry: {
      ...retryWaitState({
        description: 'The runtime could not report the state of the sandbox. The query is repeated after a delay.',
        waitsFor: 'another attempt to ask the runtime about its sandbox',
      }),
      on: {
        'timer.elapsed': 'verifying',
        'runtime.returned': { target: 'verifying', actions: 'forwardRuntimeReturn' },
      },
    },
    draining: {
      description: 'The sandbox is lost. Everything that still runs in it stops, and then the pod gets a new one.',
      tags: 'working',
      meta: { waitsFor: 'the containers of its lost sandbox to stop' },
      always: [
        { guard: 'isComplete', target: '#pod.terminating.startingGracePeriod', actions: 'recordPodCompletion' },
        {
          guard: and(['haveContainersStopped', 'isLastSandbox']),
          target: '#pod.terminating.startingGracePeriod',
          actions: 'recordPodCompletion',
          meta: { coverageGap: RARELY_TAKEN },
        },
        {
          guard: 'haveContainersStopped',
          target: '#pod.sandboxing.stoppingOldSandboxes',
          actions: recordNewSandboxEvent,
        },
      ],
    },
  },
});
