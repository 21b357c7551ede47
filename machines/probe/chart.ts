/** One probe of one run of a container: tries again and again, and tells its container when the result changes. */
import { assign, enqueueActions, sendTo, setup } from 'xstate';
import { involvedPod, type RecordedEvent, recordedEvent } from '../../pod/events/recordedEvent.ts';
import type { ProbeFact } from '../shared/events.ts';
import { failureOf } from '../shared/failure.ts';
import { type ProbeAnswer, port, timerPort } from '../shared/ports.ts';
import type { StateMeta } from '../shared/stateMeta.ts';
import {
  afterAnswer,
  eventOf,
  initialProbeContext,
  isEnough,
  type ProbeContext,
  type ProbeInput,
  periodMs,
} from './context.ts';

const probeSetup = setup({
  types: {
    input: {} as ProbeInput,
    context: {} as ProbeContext,
    events: {} as { type: 'timer.elapsed' },
    emitted: {} as RecordedEvent,
    meta: {} as StateMeta,
  },
  actors: { runProbe: port('runProbe'), pickMoment: port('pickMoment'), timer: timerPort() },
  guards: {
    mustSpread: ({ context }) => context.adopted && context.last === undefined,
    beginsPassing: ({ context }) => context.kind === 'liveness' || context.passed,
    beginsUnknown: ({ context }) => context.kind === 'startup',
    isEnoughSuccess: ({ context }, answer: ProbeAnswer) => isEnough(context, answer, 'success'),
    isEnoughFailure: ({ context }, answer: ProbeAnswer) => isEnough(context, answer, 'failure'),
  },
  actions: {
    count: assign(({ context }, answer: ProbeAnswer) => afterAnswer(context, answer)),
    recordEvent: enqueueActions(({ context, enqueue }, answer: ProbeAnswer) => {
      const message = eventOf(context, answer);
      if (message) enqueue.emit(recordedEvent(involvedPod(context.pod, context), message));
    }),
    tellSuccess: sendTo(
      ({ context }) => context.parent,
      ({ context: { kind, id } }, { at }: ProbeAnswer): ProbeFact => ({ type: 'probe.succeeded', kind, id, at }),
    ),
    tellFailure: sendTo(
      ({ context }) => context.parent,
      ({ context }, { at, message }: ProbeAnswer): ProbeFact => {
        const { kind, id, failure } = context;
        return { type: 'probe.failed', kind, id, at, said: failure?.message ?? message };
      },
    ),
    recordFault: assign(({ context, event }) => {
      const failure = failureOf(event);
      return { failure, dueAt: Math.max(context.dueAt, failure.at) + periodMs(context) };
    }),
  },
});

type Answered = { event: { output: ProbeAnswer } };
const answer = ({ event }: Answered): ProbeAnswer => event.output;

/** The result changes with the first of these that holds; the others leave it as it is. */
const toPassing = {
  guard: { type: 'isEnoughSuccess', params: answer },
  target: '#probe.passing',
  actions: [
    { type: 'count', params: answer },
    { type: 'recordEvent', params: answer },
    { type: 'tellSuccess', params: answer },
  ],
} as const;
const toFailing = {
  guard: { type: 'isEnoughFailure', params: answer },
  target: '#probe.failing',
  actions: [
    { type: 'count', params: answer },
    { type: 'recordEvent', params: answer },
    { type: 'tellFailure', params: answer },
  ],
} as const;

/** Waits and tries by turns, whatever the result is by now. */
const round = (changes: readonly (typeof toPassing | typeof toFailing)[]) =>
  probeSetup.createStateConfig({
    initial: 'choosing',
    states: {
      choosing: { always: [{ guard: 'mustSpread', target: 'spreading' }, { target: 'waiting' }] },
      /** After a restart of the agent not all probes are to come at once. */
      spreading: {
        meta: { waitsFor: 'its first try, at a moment picked at random' },
        invoke: {
          src: 'pickMoment',
          input: ({ context }) => ({ withinMs: periodMs(context) }),
          onDone: {
            target: 'waiting',
            actions: assign(({ context, event }) => ({ dueAt: Math.max(context.dueAt, event.output.at) })),
          },
          onError: 'waiting',
        },
      },
      waiting: {
        meta: { waitsFor: 'its next try', until: 'dueAt' },
        invoke: { src: 'timer', input: ({ context }) => ({ until: context.dueAt }) },
        on: { 'timer.elapsed': 'probing' },
      },
      probing: {
        meta: { waitsFor: 'the answer to its try' },
        invoke: {
          src: 'runProbe',
          input: ({ context: { pod, name, kind, id, podIp } }) => ({ pod, container: name, kind, id, podIp }),
          onDone: [
            ...changes,
            {
              target: 'waiting',
              actions: [
                { type: 'count', params: answer },
                { type: 'recordEvent', params: answer },
              ],
            },
          ],
          onError: { target: 'waiting', actions: 'recordFault' },
        },
      },
    },
  });

export const probeMachine = probeSetup.createMachine({
  id: 'probe',
  context: ({ input }) => initialProbeContext(input),
  initial: 'beginning',
  states: {
    /** The result is known from the first moment on: a pod that was ready is never shown, nor kept, as not ready. */
    beginning: {
      always: [
        { guard: 'beginsUnknown', target: 'unknown' },
        { guard: 'beginsPassing', target: 'passing' },
        { target: 'failing' },
      ],
    },
    unknown: round([toPassing, toFailing]),
    passing: round([toFailing]),
    failing: round([toPassing]),
  },
});
