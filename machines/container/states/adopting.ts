/** Queries the runtime about an existing container in order to adopt it after a restart of the agent. */
import { assign } from 'xstate';
import { lookUp } from '../../../base/values/lookUp.ts';
import type { ObservedContainer } from '../../../kubernetes/lifecycle/observed.ts';
import { SERVICE_NEVER_FAILS } from '../../shared/coverageGaps.ts';
import type { ContainerEvent } from '../../shared/events/events.ts';
import { statusUnknownEvents } from '../../shared/events/failureEvents.ts';
import { failureOf } from '../../shared/waiting/failure.ts';
import { FINAL_COUNT_LIMIT_MS } from '../../shared/waiting/finalCountLimit.ts';
import { retryStateOnReturn } from '../../shared/waiting/waits.ts';
import { type ContainerContext, knownContainer } from '../context.ts';
import { withNewId } from '../otherId.ts';
import { recordStopEvent, recordUnknownStateEvent } from '../recordedEvents.ts';
import { assignQueried, type ContainerArgs, containerSetup, queriedContainer } from '../setup.ts';
import { lostRun, terminatedRun } from '../terminatedRun.ts';

const createdFields = (observed: ObservedContainer | null) =>
  observed?.createdContainer ? { createdContainer: observed.createdContainer } : {};

/** Returns the context changes for a run that is, or may be, still in progress. */
const runningFields = (context: ContainerContext, observed: ObservedContainer | null) => ({
  ...withNewId(context, observed?.id),
  ...createdFields(observed),
  startedAt: observed?.startedAt,
  imageRef: observed?.imageRef,
});

/**
 * Returns the context changes for a container that was created but probably never started. Another container is created
 * with the same attempt number.
 */
const neverStartedFields = (id: string | undefined) => ({
  id: undefined,
  createdIdentity: undefined,
  unstartedId: id,
  isAttemptReported: true,
});

/**
 * Returns the context changes for a container that has disappeared from the runtime. A container that never ran is
 * created again with the same attempt number. Otherwise, the next run gets the next attempt number. If the last list of
 * the runtime's containers was too old to contain the last run, the log files determine that number (C23).
 */
function lostRunFields(context: ContainerContext, restartsFromLogs = 0): Partial<ContainerContext> {
  const { id, role, attempt, hasRunBefore } = context;
  if (!hasRunBefore && restartsFromLogs <= attempt) return neverStartedFields(id);
  const restarts = Math.max(attempt + 1, restartsFromLogs);
  return {
    id: undefined,
    createdIdentity: undefined,
    attempt: restarts,
    restarts,
    earlierRun: lostRun({ role, restarts }),
  };
}

// A type alias rather than an interface, because generated declaration files can inline an alias but can refer to an
// interface only by name.
type LostRun = {
  /** Number of restarts according to the log files. Undefined if it is unknown. */
  readonly restartsFromLogs: number | undefined;
};

const assignLostRun = assign<ContainerContext, ContainerEvent, LostRun, ContainerEvent, never>;

const guards = {
  hasLostSandbox: ({ context }: ContainerArgs) => context.lostSandbox !== undefined,
  isRunning: (_: ContainerArgs, container: ObservedContainer | null) => container?.state === 'running',
};

const actions = {
  recordRunningContainer: assignQueried(({ context }, container: ObservedContainer | null) =>
    runningFields(context, container),
  ),
  recordExitBeforeAdoption: assignQueried(({ context }, container: ObservedContainer | null) =>
    container === null
      ? {}
      : { ...withNewId(context, container.id), ...createdFields(container), run: terminatedRun(container) },
  ),
  recordUnstartedContainer: assignQueried(({ context: { id } }, container: ObservedContainer | null) => ({
    ...createdFields(container),
    ...neverStartedFields(container?.id ?? id),
  })),
  recordLostRun: assignLostRun(({ context }, { restartsFromLogs }: LostRun) =>
    lostRunFields(context, restartsFromLogs),
  ),
};

export const adoptingImplementations = { guards, actions };

export const adopting = containerSetup.extend(adoptingImplementations).createStateConfig({
  description:
    'The runtime has a container that an earlier agent created. Its state is queried before anything is done to it.',
  tags: 'unadopted',
  meta: { region: 'adoption' },
  initial: 'queryingRuntime',
  states: {
    queryingRuntime: {
      description: 'The runtime is queried about the existing container.',
      tags: ['working', 'unknown'],
      meta: { waitsFor: 'the runtime to report it' },
      invoke: {
        src: 'inspectContainer',
        input: ({ context }) => knownContainer(context),
        onDone: [
          {
            guard: { type: 'isRunning', params: queriedContainer },
            target: 'deciding',
            actions: { type: 'recordRunningContainer', params: queriedContainer },
          },
          // A container in an unknown state is stopped first, because it must not run alongside its successor.
          {
            guard: { type: 'isStateUnknown', params: queriedContainer },
            target: '#container.stopping',
            actions: [
              { type: 'recordRunningContainer', params: queriedContainer },
              'recordUnknownState',
              recordUnknownStateEvent,
            ],
          },
          {
            guard: { type: 'hasExited', params: queriedContainer },
            target: '#container.pending',
            actions: { type: 'recordExitBeforeAdoption', params: queriedContainer },
          },
          // The container has exited in the meantime.
          { guard: 'wasExitObserved', target: '#container.pending' },
          { guard: { type: 'isAbsent', params: queriedContainer }, target: 'countingRestarts' },
          // The container was created but not started. As in the kubelet, the attempt is counted nevertheless.
          {
            target: '#container.pending',
            actions: { type: 'recordUnstartedContainer', params: queriedContainer },
          },
        ],
        onError: {
          target: 'awaitingRetry',
          actions: [
            'recordCallFailure',
            { type: 'recordPodEvent', params: ({ event }) => statusUnknownEvents(failureOf(event)) },
          ],
        },
      },
      on: { 'runtime.containerObserved': { guard: 'isObservedExited', actions: 'recordObservedExit' } },
    },
    awaitingRetry: retryStateOnReturn('queryingRuntime', {
      description: 'The runtime could not report the state of the container. The query is repeated after a delay.',
      waitsFor: 'another attempt to get its status from the runtime',
    }),
    countingRestarts: {
      description: 'The runtime no longer has the container. Its restarts are counted by its log files.',
      tags: ['working', 'unknown'],
      meta: { waitsFor: 'its previous restarts to be counted', rules: ['C23'] },
      invoke: {
        src: 'countRestarts',
        input: ({ context: { pod, name, exitReaction } }) => ({
          pod,
          containers: [name],
          ...(exitReaction === 'stop' ? { limitMs: FINAL_COUNT_LIMIT_MS } : {}),
        }),
        onDone: {
          target: '#container.pending',
          actions: {
            type: 'recordLostRun',
            params: ({ context: { name }, event }) => ({ restartsFromLogs: lookUp(event.output.restarts, name) }),
          },
        },
        // Unreadable logs do not prevent the container from running, as in the kubelet.
        onError: {
          target: '#container.pending',
          actions: { type: 'recordLostRun', params: { restartsFromLogs: undefined } },
          meta: { coverageGap: SERVICE_NEVER_FAILS },
        },
      },
      // The attempt number is needed even if the container has to stop, but in that case counting has a time limit.
      on: { 'container.stop': { target: 'countingRestarts', reenter: true, actions: 'stopForGood' } },
    },
    deciding: {
      description:
        'The container is running. It continues, stops or restarts, depending on the commands that arrived during the query.',
      tags: ['working', 'unknown'],
      always: [
        {
          guard: 'wasExitObserved',
          target: '#container.pending',
          meta: {
            coverageGap: {
              reason: 'the simulated runtime reports the state at the time of its response; tested on its machine',
            },
          },
        },
        { guard: 'isStoppedForGood', target: '#container.stopping', actions: recordStopEvent },
        { guard: 'mustRestartWithPod', target: '#container.stopping' },
        { guard: 'hasLostSandbox', target: '#container.stopping', actions: recordStopEvent },
        { target: '#container.running' },
      ],
    },
  },
});
