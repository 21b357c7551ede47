/** Registers the node in its cluster by creating or updating its Node object and then its CSINode. */

import { assign, enqueueActions, sendTo, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import { involvedNode, type RecordedEvent, recordedEvents } from '../../kubernetes/events/recordedEvent.ts';
import { RARELY_TAKEN } from '../shared/coverageGaps.ts';
import type { RegistrationEvent } from '../shared/events/clusterFacts.ts';
import type { RegistrationReport } from '../shared/events/events.ts';
import { type PortTypes, port, timerPort } from '../shared/ports.ts';
import type { StateMeta, StateTag } from '../shared/stateMeta.ts';
import { parent } from '../shared/views/actorRefs.ts';
import { failureOf } from '../shared/waiting/failure.ts';
import { after, retryState, retryWaitState } from '../shared/waiting/waits.ts';

/** Initial delay in milliseconds of the exponential back-off between attempts to register the node, as in a kubelet. */
const INITIAL_RETRY_MS = 200;
/** Maximum delay in milliseconds of the back-off between attempts to register the node. */
const MAX_RETRY_MS = 7_000;

/**
 * Maximum time in milliseconds to wait for the runtime before the Node is created, so that the new Node already
 * contains the runtime's properties. The kubelet queries its runtime once before it registers. If the runtime does not
 * respond in time, the node registers anyway.
 */
const RUNTIME_RESPONSE_TIMEOUT_MS = 5_000;

// A type alias rather than an interface, because generated declaration files can inline an alias but can refer to an
// interface only by name.
type RegistrationInput = {
  readonly nodeName: string;
};

type RegistrationContext = RegistrationInput & {
  /** UID of the Node object. Empty if it is not known yet. */
  readonly uid: string;
  readonly waitMs: number;
  readonly retryAt: number;
  readonly failure?: Failure | undefined;
};

const registerOutput = (event: object): PortTypes['registerNode']['output'] =>
  // Safe cast: `registerNode` is the only invoked actor whose output is read.
  'output' in event ? (event.output as PortTypes['registerNode']['output']) : { uid: '', events: [] };

const registrationSetup = setup({
  types: {
    input: {} as RegistrationInput,
    context: {} as RegistrationContext,
    events: {} as RegistrationEvent,
    emitted: {} as RecordedEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { registerNode: port('registerNode'), ensureCsiNode: port('ensureCsiNode'), timer: timerPort() },
  actions: {
    recordRegisteredNode: assign(({ event }) => ({
      uid: registerOutput(event).uid,
      waitMs: INITIAL_RETRY_MS,
      failure: undefined,
    })),
    recordEvents: enqueueActions(({ context: { nodeName }, event, enqueue }) => {
      for (const each of recordedEvents(involvedNode(nodeName), registerOutput(event).events)) enqueue.emit(each);
    }),
    recordFailure: assign(({ context: { waitMs }, event }) => {
      const failure = failureOf(event);
      const nextWaitMs = Math.min(waitMs * 2, MAX_RETRY_MS);
      return { failure, retryAt: failure.at + waitMs, waitMs: nextWaitMs };
    }),
    recordCsiNode: assign({ failure: undefined }),
    reportRegistered: sendTo(parent<RegistrationReport>(), ({ context: { uid } }) => ({
      type: 'node.registered',
      uid,
    })),
    reportInitialized: sendTo(parent<RegistrationReport>(), { type: 'node.csiInitialized' }),
  },
});

export const registrationMachine = registrationSetup.createMachine({
  id: 'registration',
  description: 'The registration of the node in its cluster.',
  context: ({ input }) => ({ ...input, uid: '', waitMs: INITIAL_RETRY_MS, retryAt: 0 }),
  initial: 'awaitingRuntime',
  states: {
    awaitingRuntime: {
      description:
        'The Node object has to describe the runtime from the start. If the runtime does not respond within 5 s, it is created nevertheless.',
      tags: 'waiting',
      meta: { waitsFor: 'the runtime to respond, before the node is registered', afterMs: RUNTIME_RESPONSE_TIMEOUT_MS },
      invoke: after(RUNTIME_RESPONSE_TIMEOUT_MS),
      on: { 'runtime.seen': 'registering', 'timer.elapsed': 'registering' },
    },
    registering: {
      description: 'The Node object is created, or an existing one is updated.',
      tags: 'working',
      meta: { waitsFor: 'the Node object to be registered' },
      invoke: {
        src: 'registerNode',
        input: null,
        onDone: { target: 'creatingCsiNode', actions: ['recordRegisteredNode', 'recordEvents', 'reportRegistered'] },
        onError: { target: 'awaitingRegistration', actions: 'recordFailure' },
      },
    },
    awaitingRegistration: retryState('registering', {
      description: 'The node could not be registered. Another attempt follows after a delay that grows up to 7 s.',
      waitsFor: 'another attempt to register the node',
      withinMs: MAX_RETRY_MS,
    }),
    creatingCsiNode: {
      description:
        'The CSINode object is created, unless it exists. A kubelet exits if this fails repeatedly; this node stays NotReady and retries.',
      tags: 'working',
      meta: { waitsFor: 'the CSINode object to be created' },
      invoke: {
        src: 'ensureCsiNode',
        input: ({ context: { uid } }) => ({ uid }),
        onDone: { target: 'registered', actions: ['recordCsiNode', 'reportInitialized'] },
        onError: { target: 'awaitingCsiNode', actions: 'recordFailure', meta: { coverageGap: RARELY_TAKEN } },
      },
    },
    awaitingCsiNode: {
      ...retryWaitState({
        description: 'The CSINode could not be created. Until another attempt succeeds, the node is not ready.',
        waitsFor: 'another attempt to create the CSINode object',
        withinMs: MAX_RETRY_MS,
      }),
      on: { 'timer.elapsed': { target: 'creatingCsiNode', meta: { coverageGap: RARELY_TAKEN } } },
    },
    registered: { description: 'The cluster has the Node and its CSINode.', tags: 'steady' },
  },
});
