/** A container that must end: the preStop hook, SIGTERM, SIGKILL, all within one grace (C10). A part of the chart in container.ts. */
import { assign } from 'xstate';
import { terminatedRun } from './containerContext.ts';
import { containerSetup } from './containerSetup.ts';
import { failureOf } from './failure.ts';

export const stopping = containerSetup.createStateConfig({
  entry: { type: 'report', params: { standing: 'live' } },
  initial: 'choosing',
  on: {
    'container.stop': [
      { guard: 'isSooner', target: '.signalling', actions: 'stopForGood' },
      { actions: 'stopForGood' },
    ],
    'runtime.containerObserved': { guard: 'showsEnd', target: 'exited', actions: 'recordEnd' },
  },
  states: {
    choosing: {
      always: [
        { guard: 'neverMade', target: '#container.exited' },
        { guard: 'hasPreStop', target: 'hooking' },
        { target: 'signalling' },
      ],
    },
    hooking: {
      meta: { waitsFor: 'the hook', until: 'stopBy' },
      invoke: {
        src: 'runHook',
        input: ({ context }) => ({
          pod: context.pod,
          container: context.name,
          id: context.id ?? '',
          hook: 'preStop' as const,
          podIp: context.sandbox?.ips?.[0],
          graceSeconds: context.pod.spec.terminationGracePeriodSeconds ?? 30,
          deadline: context.stopBy,
        }),
        onDone: {
          target: 'signalling',
          actions: { type: 'recordHook', params: ({ event }) => event.output },
        },
        onError: { target: 'signalling', actions: assign(({ event }) => ({ failure: failureOf(event) })) },
      },
    },
    signalling: {
      meta: { waitsFor: 'the process to end', until: 'stopBy' },
      invoke: {
        src: 'stopContainer',
        input: ({ context }) => ({
          id: context.id ?? '',
          graceSeconds: context.pod.spec.terminationGracePeriodSeconds ?? 30,
          deadline: context.stopBy,
        }),
        onDone: [
          {
            guard: { type: 'isAbsent', params: ({ event }) => event.output },
            target: '#container.exited',
            actions: 'recordUnknownEnd',
          },
          {
            target: '#container.exited',
            actions: assign(({ event }) =>
              event.output ? { run: terminatedRun(event.output), stopBy: undefined } : {},
            ),
          },
        ],
        onError: { target: 'awaitingRetry', actions: 'recordCallFailure' },
      },
    },
    awaitingRetry: {
      meta: { waitsFor: 'another try', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: {
        'timer.elapsed': 'signalling',
        'runtime.returned': { guard: 'failedForRuntime', target: 'signalling' },
      },
    },
  },
});
