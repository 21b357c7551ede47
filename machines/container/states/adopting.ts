/** What does the runtime have of it already? After a restart of the agent this is where adoption happens. */
import { assign } from 'xstate';
import { lookUp } from '../../../base/lookUp.ts';
import type { ObservedContainer } from '../../../kubernetes/lifecycle/observed.ts';
import { failureOf } from '../../shared/failure.ts';
import { statusUnknown } from '../../shared/failureEvents.ts';
import { LAST_COUNT_MS } from '../../shared/lastCount.ts';
import { type ContainerContext, knownContainer } from '../context.ts';
import { underId } from '../otherId.ts';
import { recordStopEvent, recordUnknownStateEvent } from '../recordedEvents.ts';
import { type ContainerArgs, containerSetup } from '../setup.ts';
import { lostRun, terminatedRun } from '../terminatedRun.ts';

/** What the runtime made of it, as far as it tells. */
const madeOf = (shown: ObservedContainer | null) => (shown?.made ? { made: shown.made } : {});

/** What is known of a run that goes on, or may. */
const whatRuns = (context: ContainerContext, shown: ObservedContainer | null) => ({
  ...underId(context, shown?.id),
  ...madeOf(shown),
  startedAt: shown?.startedAt,
  imageRef: shown?.imageRef,
});

/** It was made and, as far as anybody can tell, never started: it is made again under its number. */
const neverStarted = (id: string | undefined) => ({
  id: undefined,
  madeFrom: undefined,
  unstarted: id,
  isCounted: true,
});

/**
 * What is known of one that the runtime has lost. The next run has the next number; a list that is old may have shown one
 * before the last, whose number its logs tell (C23).
 */
function withoutRun(context: ContainerContext, byLogs = 0): Partial<ContainerContext> {
  const { id, role, attempt, ranBefore } = context;
  if (!ranBefore && byLogs <= attempt) return neverStarted(id);
  const restarts = Math.max(attempt + 1, byLogs);
  return { id: undefined, madeFrom: undefined, attempt: restarts, restarts, earlierRun: lostRun({ role, restarts }) };
}

const guards = {
  hasLostSandbox: ({ context }: ContainerArgs) => context.former !== undefined,
  isAlive: (_: ContainerArgs, container: ObservedContainer | null) => container?.state === 'running',
};

export const adoptingImplementations = { guards };

export const adopting = containerSetup.extend(adoptingImplementations).createStateConfig({
  tags: 'unadopted',
  initial: 'asking',
  states: {
    asking: {
      tags: ['working', 'unknown'],
      meta: { waitsFor: 'the runtime to report it' },
      invoke: {
        src: 'inspectContainer',
        input: ({ context }) => knownContainer(context),
        onDone: [
          {
            guard: { type: 'isAlive', params: ({ event }) => event.output },
            target: 'deciding',
            actions: assign(({ context, event: { output } }) => whatRuns(context, output)),
          },
          // Whatever it is, it must not run beside the next one.
          {
            guard: { type: 'isUnknown', params: ({ event }) => event.output },
            target: '#container.stopping',
            actions: [
              assign(({ context, event: { output } }) => ({ ...whatRuns(context, output), foundUnknown: true })),
              recordUnknownStateEvent,
            ],
          },
          {
            guard: { type: 'isOver', params: ({ event }) => event.output },
            target: '#container.pending',
            actions: assign(({ context, event: { output } }) =>
              output ? { ...underId(context, output.id), ...madeOf(output), run: terminatedRun(output) } : {},
            ),
          },
          // It was seen how it has ended.
          { guard: 'hasSeenEnd', target: '#container.pending' },
          { guard: { type: 'isAbsent', params: ({ event }) => event.output }, target: 'countingRestarts' },
          // Its number counts, as on a kubelet, from when it was made.
          {
            target: '#container.pending',
            actions: assign(({ context: { id }, event: { output } }) => ({
              ...madeOf(output),
              ...neverStarted(output?.id ?? id),
            })),
          },
        ],
        onError: {
          target: 'awaitingRetry',
          actions: [
            'recordCallFailure',
            { type: 'recordPodEvent', params: ({ event }) => statusUnknown(failureOf(event)) },
          ],
        },
      },
      on: { 'runtime.containerObserved': { guard: 'showsEnd', actions: 'recordEnd' } },
    },
    awaitingRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to get its status from the runtime', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: { 'timer.elapsed': 'asking', 'runtime.returned': 'asking' },
    },
    countingRestarts: {
      tags: ['working', 'unknown'],
      meta: { waitsFor: 'its previous restarts to be counted' },
      invoke: {
        src: 'countRestarts',
        input: ({ context: { pod, name, onEnd } }) => ({
          pod,
          containers: [name],
          ...(onEnd === 'stay' ? { limitMs: LAST_COUNT_MS } : {}),
        }),
        onDone: {
          target: '#container.pending',
          actions: assign(({ context, event: { output } }) =>
            withoutRun(context, lookUp(output.restarts, context.name)),
          ),
        },
        // As on a kubelet: logs that cannot be read keep no container from running.
        onError: { target: '#container.pending', actions: assign(({ context }) => withoutRun(context)) },
      },
      // Its end, too, tells the number, but does not wait long for it.
      on: { 'container.stop': { target: 'countingRestarts', reenter: true, actions: 'stopForGood' } },
    },
    /** It runs; what it was told meanwhile holds. */
    deciding: {
      tags: ['working', 'unknown'],
      always: [
        { guard: 'hasSeenEnd', target: '#container.pending' },
        { guard: 'mustStay', target: '#container.stopping', actions: recordStopEvent },
        { guard: 'mustReset', target: '#container.stopping' },
        { guard: 'hasLostSandbox', target: '#container.stopping', actions: recordStopEvent },
        { target: '#container.running' },
      ],
    },
  },
});
