/** Runs one probe of one run of a container periodically, and reports changes in the result to the container. */
import { assign, enqueueActions, sendTo, setup } from 'xstate';
import { involvedPod, type RecordedEvent, recordedEvent } from '../../kubernetes/events/recordedEvent.ts';
import type { ReportedDetails } from '../../show/actors/actorNode.ts';
import { SERVICE_NEVER_FAILS } from '../shared/coverageGaps.ts';
import type { ProbeFact } from '../shared/events/events.ts';
import type { TimerEvent } from '../shared/events/slots.ts';
import { type ProbeResult, port, timerPort } from '../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { parent } from '../shared/views/actorRefs.ts';
import { failureOf } from '../shared/waiting/failure.ts';
import { after } from '../shared/waiting/waits.ts';
import {
  afterAttempt,
  consecutiveFailures,
  initialProbeContext,
  maxWaitMs,
  type ProbeContext,
  type ProbeInput,
  periodMs,
  probeEvent,
  reachesThreshold,
} from './context.ts';

const probeSetup = setup({
  types: {
    input: {} as ProbeInput,
    context: {} as ProbeContext,
    events: {} as TimerEvent,
    emitted: {} as RecordedEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag | 'unknown' | 'passing' | 'failing',
  },
  actors: { runProbe: port('runProbe'), pickTime: port('pickTime'), timer: timerPort() },
  guards: {
    mustSpreadFirstAttempt: ({ context }) => context.adopted && context.lastResult === undefined,
    startsPassing: ({ context }) => context.kind === 'liveness' || context.passed,
    isStartupProbe: ({ context }) => context.kind === 'startup',
    reachesSuccessThreshold: ({ context }, result: ProbeResult) => reachesThreshold(context, result, 'success'),
    reachesFailureThreshold: ({ context }, result: ProbeResult) => reachesThreshold(context, result, 'failure'),
  },
  actions: {
    countResult: assign(({ context }, result: ProbeResult) => afterAttempt(context, result)),
    recordEvent: enqueueActions(({ context, enqueue }, result: ProbeResult) => {
      const message = probeEvent(context, result);
      if (message) enqueue.emit(recordedEvent(involvedPod(context.pod, context), message));
    }),
    reportSuccess: sendTo(
      parent<ProbeFact>(),
      ({ context: { kind, id } }, { at }: ProbeResult): ProbeFact => ({ type: 'probe.succeeded', kind, id, at }),
    ),
    reportFailure: sendTo(parent<ProbeFact>(), ({ context }, { at, message }: ProbeResult): ProbeFact => {
      const { kind, id, failure } = context;
      return { type: 'probe.failed', kind, id, at, output: failure?.message ?? message };
    }),
    recordProbeError: assign(({ context, event }) => {
      const failure = failureOf(event);
      return { failure, dueAt: failure.at + periodMs(context) };
    }),
  },
});

/** Returns the number of consecutive failures, for the actor tree. */
function facts({ snapshot }: ActorInfo<ProbeContext>): ReportedDetails {
  const { count, limit } = consecutiveFailures(snapshot.context) ?? { count: 0, limit: 0 };
  if (count === 0) return {};
  return { facts: [count <= limit ? `${count} of ${limit} failures` : `${count} failures in a row`] };
}

type ProbeDoneEvent = { event: { output: ProbeResult } };
const attemptResult = ({ event }: ProbeDoneEvent): ProbeResult => event.output;

/** Transitions that change the result. The first transition whose guard is satisfied is taken. */
const passTransition = {
  guard: { type: 'reachesSuccessThreshold', params: attemptResult },
  target: '#probe.passing',
  actions: [
    { type: 'countResult', params: attemptResult },
    { type: 'recordEvent', params: attemptResult },
    { type: 'reportSuccess', params: attemptResult },
  ],
} as const;
const failTransition = {
  guard: { type: 'reachesFailureThreshold', params: attemptResult },
  target: '#probe.failing',
  actions: [
    { type: 'countResult', params: attemptResult },
    { type: 'recordEvent', params: attemptResult },
    { type: 'reportFailure', params: attemptResult },
  ],
} as const;

/** Delays the first attempt after a restart of the agent, so that not all probes run at the same time. */
const spreading = probeSetup.createStateConfig({
  description:
    'After a restart of the agent, the first attempts are spread over their period, so that not all probes run at the same time.',
  tags: 'waiting',
  meta: { waitsFor: 'its first attempt, after a random delay' },
  invoke: {
    src: 'pickTime',
    input: ({ context }) => ({ withinMs: periodMs(context) }),
    onDone: {
      target: 'waiting',
      actions: assign(({ context, event }) => ({ dueAt: Math.max(context.dueAt, event.output.at) })),
    },
    onError: { target: 'waiting', meta: { coverageGap: SERVICE_NEVER_FAILS } },
  },
});

const waitingState = (tag: StateTag) =>
  probeSetup.createStateConfig({
    description: 'The next attempt is due when the initial delay or the period has passed.',
    tags: tag,
    meta: { waitsFor: 'its next attempt', until: 'dueAt' },
    invoke: after((context: ProbeContext) => ({ until: context.dueAt, within: maxWaitMs(context) })),
    on: { 'timer.elapsed': 'probing' },
  });

const probingState = (resultTransitions: readonly (typeof passTransition | typeof failTransition)[]) =>
  probeSetup.createStateConfig({
    description: 'An attempt is in flight. It fails when its timeout is over.',
    tags: 'working',
    meta: { waitsFor: 'the result of its attempt' },
    invoke: {
      src: 'runProbe',
      input: ({ context: { pod, name, kind, id, podIp } }) => ({ pod, container: name, kind, id, podIp }),
      onDone: [
        ...resultTransitions,
        {
          target: 'waiting',
          actions: [
            { type: 'countResult', params: attemptResult },
            { type: 'recordEvent', params: attemptResult },
          ],
        },
      ],
      onError: { target: 'waiting', actions: 'recordProbeError', meta: { coverageGap: SERVICE_NEVER_FAILS } },
    },
  });

const choosing = probeSetup.createStateConfig({
  description: 'It is decided when the next attempt is due.',
  tags: 'working',
  always: [{ guard: 'mustSpreadFirstAttempt', target: 'spreading' }, { target: 'waiting' }],
});

export const probeMachine = probeSetup.createMachine({
  id: 'probe',
  description: 'One probe of one run of a container, from its first attempt to the end of the run.',
  meta: { facts },
  context: ({ input }) => initialProbeContext(input),
  initial: 'choosingInitialResult',
  states: {
    choosingInitialResult: {
      description: 'The probe starts with the known result, so that a ready pod is never reported as not ready.',
      tags: 'working',
      always: [
        { guard: 'isStartupProbe', target: 'unknown' },
        { guard: 'startsPassing', target: 'passing' },
        { target: 'failing' },
      ],
    },
    // In each of these states, the probe alternates between waiting and probing.
    unknown: {
      description: 'There is no result yet.',
      tags: 'unknown',
      initial: 'choosing',
      states: {
        choosing,
        spreading,
        waiting: waitingState('waiting'),
        probing: probingState([passTransition, failTransition]),
      },
    },
    passing: {
      description: 'The last result is success.',
      tags: 'passing',
      initial: 'choosing',
      states: { choosing, spreading, waiting: waitingState('steady'), probing: probingState([failTransition]) },
    },
    failing: {
      description:
        'The last result is failure. The container is not ready, or is killed, depending on the kind of probe.',
      tags: 'failing',
      initial: 'choosing',
      states: { choosing, spreading, waiting: waitingState('retrying'), probing: probingState([passTransition]) },
    },
  },
});
