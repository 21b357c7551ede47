/**
 * Manages the parent cgroups of pods (C25). They are set up at startup and checked once a minute. If the kernel refuses
 * the resource limit for all pods together, the limit is retried later. Parent cgroups that contain pods of another
 * agent remain unchanged.
 */
import { assign, emit, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import {
  type EventMessage,
  involvedNode,
  type RecordedEvent,
  recordedEvent,
} from '../../kubernetes/events/recordedEvent.ts';
import type { CgroupSetup } from '../../kubernetes/resources/cgroup.ts';
import { type CoverageGap, RARELY_TAKEN } from '../shared/coverageGaps.ts';
import type { TimerEvent } from '../shared/events/slots.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { failureOf } from '../shared/waiting/failure.ts';
import { after } from '../shared/waiting/waits.ts';

/**
 * Interval between two checks in milliseconds, as in a kubelet. A limit that the kernel refuses may be accepted at the
 * next check, because running pods may use less by then.
 */
const CHECK_INTERVAL_MS = 60_000;

// Type aliases rather than interfaces, because generated declaration files can inline an alias but can refer to an
// interface only by name.
type CgroupsInput = {
  readonly nodeName: string;
  /** Messages about the daemon cgroups whose limits have been set, one sentence each. */
  readonly reservedCgroups: readonly string[];
};

type CgroupsContext = CgroupsInput & {
  /** Warnings, one sentence each. */
  readonly warnings: readonly string[];
  /** Reason why the resource limit for all pods together is not in force. */
  readonly failure: Failure | undefined;
};

/** Returns the output of `setUpCgroups`, or undefined for any other event, such as a failure. */
const setUpResult = (event: object): CgroupSetup | undefined =>
  // Safe cast: `setUpCgroups` is the only invoked actor that has an output.
  'output' in event ? (event.output as CgroupSetup) : undefined;

const cgroupsSetup = setup({
  types: {
    input: {} as CgroupsInput,
    context: {} as CgroupsContext,
    events: {} as TimerEvent,
    emitted: {} as RecordedEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag | 'unused',
  },
  actors: { setUpCgroups: port('setUpCgroups'), timer: timerPort() },
  guards: {
    isLimitEnforced: ({ event }) => setUpResult(event)?.outcome === 'enforced',
    areCgroupsShared: ({ event }) => setUpResult(event)?.outcome === 'shared',
    areCgroupsForbidden: ({ event }) => setUpResult(event)?.outcome === 'forbidden',
  },
  actions: {
    recordEvent: emit(({ context }, message: EventMessage) => recordedEvent(involvedNode(context.nodeName), message)),
    recordWarnings: assign(({ event }) => ({ warnings: setUpResult(event)?.warnings ?? [], failure: undefined })),
    recordFailure: assign(({ event }) => ({ warnings: [], failure: failureOf(event) })),
  },
});

/** Returns the kubelet's event for a failure to enforce the resource limit for all pods together. */
const enforcementFailedEvent = (message: string): EventMessage => ({
  eventType: 'Warning' as const,
  reason: 'FailedNodeAllocatableEnforcement',
  message,
});

const UNUSED_IS_UNREACHABLE: CoverageGap = {
  reason: 'defensive: an agent that manages cgroups never leaves them to the runtime; tested on its machine',
};

/**
 * Returns the config of a state that sets up missing cgroups. The outcome determines the next state. The parameters
 * supply the `meta` of the transitions for two of the outcomes.
 */
const checkingState = ({
  metaIfUnused = {},
  metaIfFailed = {},
}: {
  metaIfUnused?: StateMeta;
  metaIfFailed?: StateMeta;
} = {}) =>
  cgroupsSetup.createStateConfig({
    description: 'The cgroups are checked, and those that are missing are created.',
    tags: 'working',
    meta: { waitsFor: 'the parent cgroups of pods to be set up' },
    invoke: {
      src: 'setUpCgroups',
      input: null,
      onDone: [
        { guard: 'isLimitEnforced', target: '#cgroups.enforced.waiting', actions: 'recordWarnings' },
        { guard: 'areCgroupsShared', target: '#cgroups.sharedWithOthers.waiting', actions: 'recordWarnings' },
        { guard: 'areCgroupsForbidden', target: '#cgroups.forbidden', actions: 'recordWarnings' },
        { target: '#cgroups.unused', meta: metaIfUnused },
      ],
      onError: {
        target: '#cgroups.awaitingEnforcement.waiting',
        actions: [
          'recordFailure',
          { type: 'recordEvent', params: ({ event }) => enforcementFailedEvent(failureOf(event).message) },
        ],
        meta: metaIfFailed,
      },
    },
  });

const waitingState = (waitsFor: string, tag: StateTag) =>
  cgroupsSetup.createStateConfig({
    description: 'The next check follows after a minute.',
    tags: tag,
    meta: { waitsFor, afterMs: CHECK_INTERVAL_MS },
    invoke: after(CHECK_INTERVAL_MS),
    on: { 'timer.elapsed': 'checking' },
  });

export const cgroupsMachine = cgroupsSetup.createMachine({
  id: 'cgroups',
  description: 'The parent cgroups of pods, and the limit of all pods.',
  meta: {
    facts: ({ snapshot: { context } }: ActorInfo<CgroupsContext>) => ({
      facts: [...context.warnings, ...context.reservedCgroups],
    }),
  },
  context: ({ input }) => ({ ...input, warnings: [], failure: undefined }),
  initial: 'settingUp',
  states: {
    settingUp: {
      ...checkingState(),
      description: 'The parent cgroups of pods are created with the limits of the node.',
    },
    enforced: {
      description: 'The limit of all pods is in force.',
      entry: {
        type: 'recordEvent',
        params: { reason: 'NodeAllocatableEnforced', message: 'Updated Node Allocatable limit across pods' },
      },
      initial: 'waiting',
      states: {
        waiting: waitingState('the next check for pods of other agents in the cgroups', 'steady'),
        checking: checkingState({
          metaIfUnused: { coverageGap: UNUSED_IS_UNREACHABLE },
          metaIfFailed: { coverageGap: RARELY_TAKEN },
        }),
      },
    },
    awaitingEnforcement: {
      description: 'The limit of all pods could not be set.',
      initial: 'waiting',
      states: {
        waiting: waitingState('another attempt to set the limit of all pods', 'retrying'),
        checking: checkingState({ metaIfUnused: { coverageGap: UNUSED_IS_UNREACHABLE } }),
      },
    },
    sharedWithOthers: {
      description:
        'Pods of another agent are in these cgroups. Limits are set neither for all pods nor for QoS classes, only for the pods of this agent.',
      entry: { type: 'recordEvent', params: ({ context: { warnings } }) => enforcementFailedEvent(warnings[0] ?? '') },
      initial: 'waiting',
      states: {
        waiting: waitingState('pods of other agents to leave the cgroups', 'waiting'),
        checking: checkingState({ metaIfUnused: { coverageGap: UNUSED_IS_UNREACHABLE } }),
      },
    },
    forbidden: {
      description:
        'The host does not permit creating cgroups, so that pods have only the cgroups that the runtime creates.',
      tags: 'failed',
    },
    unused: {
      description: 'The configuration leaves cgroups to the runtime (cgroupsPerQOS: false).',
      tags: ['done', 'unused'],
    },
  },
});
