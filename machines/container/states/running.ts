/**
 * Runs a container. The container is considered started once its startup probe has passed, and its other probes start
 * at that time. Part of the chart in chart.ts.
 */

import { assertEvent } from 'xstate';
import type { ObservedContainer } from '../../../kubernetes/lifecycle/observed.ts';
import { needsRestart } from '../../../kubernetes/resources/resize.ts';
import type { ProbeKind } from '../../../kubernetes/status/view.ts';
import { type ProbeInput, probeOf } from '../../probe/context.ts';
import { probeRefs, probeState } from '../../probe/view.ts';
import { RARELY_TAKEN } from '../../shared/coverageGaps.ts';
import type { ProbeFact } from '../../shared/events/events.ts';
import { statusUnknownEvents } from '../../shared/events/failureEvents.ts';
import { failureOf } from '../../shared/waiting/failure.ts';
import { retryStateOnReturn } from '../../shared/waiting/waits.ts';
import { type ContainerContext, hasWrongSize, identityOf, knownContainer, specOf } from '../context.ts';
import { isPresent, isPresentUnderOtherId, withNewId } from '../otherId.ts';
import {
  failedProbeEvent,
  recordOutdatedEvent,
  recordResizeEvent,
  recordStopEvent,
  recordUnknownStateEvent,
} from '../recordedEvents.ts';
import { assignQueried, type ContainerArgs, containerSetup, queriedContainer } from '../setup.ts';
import { terminatedRun } from '../terminatedRun.ts';

type ProbeFailedEvent = Extract<ProbeFact, { type: 'probe.failed' }>;

/**
 * Returns the context changes that stop a container after a failed probe. The grace period is that of the probe or, if
 * it has none, that of the pod.
 */
function probeFailureFields(
  context: ContainerContext,
  { kind, at, output }: ProbeFailedEvent,
): Partial<ContainerContext> {
  const probeGraceSeconds = probeOf(context.pod, context.name, kind)?.terminationGracePeriodSeconds;
  const graceSeconds = probeGraceSeconds ?? context.pod.spec.terminationGracePeriodSeconds ?? 30;
  return {
    stopBy: at + graceSeconds * 1_000,
    stopGraceSeconds: graceSeconds,
    stopCause: output,
  };
}

/** Returns the input of a probe of the current run, or undefined if the spec has no probe of this kind. */
function probeInput(context: ContainerContext, kind: ProbeKind): ProbeInput | undefined {
  const { pod, name, role, id = '', startedAt = 0, sandbox, adopted } = context;
  if (probeOf(pod, name, kind) === undefined) return undefined;
  const isAdopted = adopted?.id === id;
  const hasPassed = isAdopted && adopted.ready && kind === 'readiness';
  return { pod, name, role, kind, id, startedAt, podIp: sandbox?.ips?.[0], passed: hasPassed, adopted: isAdopted };
}

const guards = {
  mustRestartToResize: ({ context }: ContainerArgs) =>
    hasWrongSize(context) &&
    context.size !== undefined &&
    needsRestart(context.pod.spec, specOf(context), context.size),
  /** Whether the container in the runtime was created from an older spec (C6). */
  isSpecOutdated: ({ context }: ContainerArgs) =>
    context.createdIdentity !== undefined && context.createdIdentity !== identityOf(context),
  isObservedUnknown: ({ context, event }: ContainerArgs) => {
    assertEvent(event, 'runtime.containerObserved');
    return event.container?.state === 'unknown' && isPresent(context, event.container);
  },
  isCurrentContainer: ({ context, event }: ContainerArgs) => {
    assertEvent(event, 'container.resized');
    return event.id === context.id;
  },
  /** Whether the container is listed under a different ID. */
  isObservedUnderNewId: ({ context, event }: ContainerArgs) => {
    assertEvent(event, 'runtime.containerObserved');
    return event.container !== null && isPresentUnderOtherId(context, event.container);
  },
  hasDifferentId: ({ context }: ContainerArgs, container: ObservedContainer | null) =>
    container !== null && container.id !== context.id,
  isObservedAbsent: ({ context, event }: ContainerArgs) => {
    assertEvent(event, 'runtime.containerObserved');
    return event.container === null && event.id === context.id;
  },
  mustPassStartupProbe: ({ context }: ContainerArgs) =>
    context.startupPassedId !== context.id && probeOf(context.pod, context.name, 'startup') !== undefined,
  /** Whether the startup probe that has passed belongs to the current run. Results of an earlier run are ignored. */
  hasStartupProbePassed: ({ context, event }: ContainerArgs) => {
    assertEvent(event, 'probe.succeeded');
    return event.kind === 'startup' && event.id === context.id;
  },
  isFatalProbeFailure: ({ context, event }: ContainerArgs) => {
    assertEvent(event, 'probe.failed');
    return event.kind !== 'readiness' && event.id === context.id;
  },
};

const actions = {
  recordExitAfterQuery: assignQueried((_, container: ObservedContainer | null) =>
    container === null ? {} : { id: container.id, run: terminatedRun(container) },
  ),
  recordQueriedId: assignQueried(({ context }, container: ObservedContainer | null) =>
    withNewId(context, container?.id),
  ),
  startStartupProbe: containerSetup.enqueueActions(({ context, enqueue }) => {
    const input = probeInput(context, 'startup');
    if (input) enqueue.spawnChild('probe', { id: 'probe/startup', input });
  }),
  /** Marks the run as started and stops its startup probe. */
  completeStartup: containerSetup.enqueueActions(({ context, enqueue }) => {
    enqueue.stopChild('probe/startup');
    enqueue.assign({ startupPassedId: context.id });
  }),
  startLivenessAndReadinessProbes: containerSetup.enqueueActions(({ context, enqueue }) => {
    for (const kind of ['liveness', 'readiness'] as const) {
      const input = probeInput(context, kind);
      if (input) enqueue.spawnChild('probe', { id: `probe/${kind}` as const, input });
    }
  }),
  /**
   * Restarts the probes of a container whose ID has changed. As in a kubelet, the probes start without a result, unless
   * the container was started before the agent, in which case they retain their results (`doProbe` in
   * pkg/kubelet/prober/worker.go).
   */
  resetProbes: containerSetup.enqueueActions(({ context, enqueue, self }) => {
    const { id, adopted } = context;
    const readinessProbe = probeRefs(self.getSnapshot()).find((ref) => ref.getSnapshot().context.kind === 'readiness');
    enqueue('stopProbes');
    if (adopted === undefined || adopted.id !== id) enqueue.assign({ startupPassedId: undefined });
    else if (readinessProbe)
      enqueue.assign({ adopted: { ...adopted, ready: probeState(readinessProbe) === 'passing' } });
  }),
  recordProbeFailure: containerSetup.assign(({ context, event }) => {
    assertEvent(event, 'probe.failed');
    return probeFailureFields(context, event);
  }),
  recordSize: containerSetup.assign(({ event }) => {
    assertEvent(event, 'container.resized');
    return { size: event.size };
  }),
  clearWaitingReason: containerSetup.assign({ waitingReason: undefined }),
};

export const runningImplementations = { guards, actions };
const runningSetup = containerSetup.extend(runningImplementations);

export const running = runningSetup.createStateConfig({
  description: 'The process of the container runs.',
  tags: 'running',
  meta: { rules: ['C6'], region: 'run', layout: { column: 3 } },
  entry: ['clearWaitingReason', 'reportSize'],
  initial: 'choosing',
  // Stop a container that was created from an earlier spec. The spec may even have changed while the agent was not
  // running.
  always: [
    { guard: 'isSpecOutdated', target: 'stopping', actions: ['requireRecreation', recordOutdatedEvent] },
    { guard: 'mustRestartToResize', target: 'stopping', actions: ['requireRecreation', recordResizeEvent] },
  ],
  on: {
    'container.reset': { target: 'stopping', actions: 'requireReset' },
    'container.stop': { target: 'stopping', actions: ['stopForGood', recordStopEvent] },
    'sandbox.lost': { target: 'stopping', actions: ['recordLostSandbox', recordStopEvent] },
    'runtime.containerObserved': [
      { guard: 'isObservedExited', target: 'ended', actions: 'recordObservedExit' },
      { guard: 'isObservedUnknown', target: 'stopping', actions: ['adoptNewId', recordUnknownStateEvent] },
      { guard: 'isObservedUnderNewId', target: '.choosing', actions: ['adoptNewId', 'resetProbes'] },
      { guard: 'isObservedAbsent', target: '.verifying' },
    ],
    'probe.failed': {
      guard: 'isFatalProbeFailure',
      target: 'stopping',
      actions: [
        'recordProbeFailure',
        { type: 'recordEvent', params: ({ context, event }) => failedProbeEvent(context, event.kind) },
      ],
    },
    'container.resized': { guard: 'isCurrentContainer', actions: 'recordSize' },
    'probe.succeeded': { guard: 'hasStartupProbePassed', target: '.startingProbes' },
  },
  states: {
    choosing: {
      description: 'It is decided whether the startup probe has to pass first.',
      tags: 'working',
      always: [
        { guard: 'mustPassStartupProbe', target: 'startingUp', actions: 'startStartupProbe' },
        { target: 'startingProbes' },
      ],
    },
    startingUp: {
      description: 'The container counts as not started, and no other probe runs, until its startup probe has passed.',
      tags: 'waiting',
      meta: { waitsFor: 'its startup probe', rules: ['C4'] },
      entry: { type: 'reportLifecycle', params: { lifecycle: 'live' } },
    },
    startingProbes: {
      description: 'The container has started. Its liveness and readiness probes start.',
      tags: 'working',
      entry: [
        'completeStartup',
        { type: 'reportLifecycle', params: { lifecycle: 'running' } },
        'startLivenessAndReadinessProbes',
      ],
      always: 'steady',
    },
    resuming: {
      description: 'The container returns to startup or to steady operation after it was looked up in the runtime.',
      tags: 'working',
      always: [
        { guard: 'mustPassStartupProbe', target: 'startingUp', meta: { coverageGap: RARELY_TAKEN } },
        { target: 'steady' },
      ],
    },
    steady: {
      description: 'The container runs as it should.',
      tags: 'steady',
      meta: { layout: { isOnMainPath: true } },
    },
    verifying: {
      description:
        'A list of the runtime did not contain the container, but may be outdated. Only a query about this container is conclusive.',
      tags: 'working',
      meta: { waitsFor: 'the runtime to report whether it still exists' },
      invoke: {
        src: 'inspectContainer',
        input: ({ context }) => knownContainer(context),
        onDone: [
          {
            guard: { type: 'isAbsent', params: queriedContainer },
            target: '#container.ended',
            actions: 'recordUnknownExit',
          },
          {
            guard: { type: 'hasExited', params: queriedContainer },
            target: '#container.ended',
            actions: { type: 'recordExitAfterQuery', params: queriedContainer },
          },
          {
            guard: { type: 'isStateUnknown', params: queriedContainer },
            target: '#container.stopping',
            actions: [{ type: 'recordQueriedId', params: queriedContainer }, recordUnknownStateEvent],
          },
          {
            guard: { type: 'hasDifferentId', params: queriedContainer },
            target: 'choosing',
            actions: [{ type: 'recordQueriedId', params: queriedContainer }, 'resetProbes'],
          },
          { target: 'resuming' },
        ],
        onError: {
          target: 'awaitingVerification',
          actions: [
            'recordCallFailure',
            { type: 'recordPodEvent', params: ({ event }) => statusUnknownEvents(failureOf(event)) },
          ],
        },
      },
    },
    awaitingVerification: retryStateOnReturn('verifying', {
      description:
        'The runtime could not report whether the container still exists. The query is repeated after a delay.',
      waitsFor: 'another attempt to ask the runtime whether it still exists',
    }),
  },
});
