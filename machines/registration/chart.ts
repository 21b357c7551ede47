/** The registration of the node in its cluster: its Node object, made or found there, and then its CSINode. */
import { assign, enqueueActions, sendTo, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import { involvedNode, type RecordedEvent, recordedEvents } from '../../kubernetes/events/recordedEvent.ts';
import { parent } from '../shared/actorRefs.ts';
import type { RegistrationEvent } from '../shared/clusterFacts.ts';
import type { RegistrationReport } from '../shared/events.ts';
import { failureOf } from '../shared/failure.ts';
import { type PortTypes, port, timerPort } from '../shared/ports.ts';
import type { StateMeta, StateTag } from '../shared/stateMeta.ts';

/** As a kubelet: the wait before another try doubles from the first to the longest. */
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 7_000;

/**
 * So long the Node waits for what the runtime says of itself, that it need not begin with what it is not. A kubelet asks
 * its runtime once before it registers; a node whose runtime does not answer must show in its cluster nevertheless.
 */
const RUNTIME_ANSWER_MS = 5_000;

// Not an interface: the types of the package would have to name it.
type RegistrationInput = {
  readonly nodeName: string;
};

type RegistrationContext = RegistrationInput & {
  /** That of the Node object; empty until it is known. */
  readonly uid: string;
  readonly waitMs: number;
  readonly retryAt: number;
  readonly failure?: Failure | undefined;
};

const registeredIn = (event: object): PortTypes['registerNode']['output'] =>
  // Only `registerNode` is done there.
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
    recordNode: assign(({ event }) => ({ uid: registeredIn(event).uid, waitMs: FIRST_WAIT_MS, failure: undefined })),
    recordEvents: enqueueActions(({ context: { nodeName }, event, enqueue }) => {
      for (const each of recordedEvents(involvedNode(nodeName), registeredIn(event).events)) enqueue.emit(each);
    }),
    recordFailure: assign(({ context: { waitMs }, event }) => {
      const failure = failureOf(event);
      const next = Math.min(waitMs * 2, LONGEST_WAIT_MS);
      return { failure, retryAt: failure.at + waitMs, waitMs: next };
    }),
    recordMade: assign({ failure: undefined }),
    tellRegistered: sendTo(parent<RegistrationReport>(), ({ context: { uid } }) => ({ type: 'node.registered', uid })),
    tellInitialized: sendTo(parent<RegistrationReport>(), { type: 'node.csiInitialized' }),
  },
});

const awaitingRetry = (waitsFor: string, target: 'registering' | 'makingCsiNode') =>
  registrationSetup.createStateConfig({
    tags: 'retrying',
    meta: { waitsFor, until: 'retryAt' },
    invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt, within: LONGEST_WAIT_MS }) },
    on: { 'timer.elapsed': target },
  });

export const registrationMachine = registrationSetup.createMachine({
  id: 'registration',
  description: 'The registration of the node in its cluster.',
  context: ({ input }) => ({ ...input, uid: '', waitMs: FIRST_WAIT_MS, retryAt: 0 }),
  initial: 'awaitingRuntime',
  states: {
    awaitingRuntime: {
      tags: 'waiting',
      meta: { waitsFor: 'the runtime to answer, before the node is registered', afterMs: RUNTIME_ANSWER_MS },
      invoke: { src: 'timer', input: { after: RUNTIME_ANSWER_MS } },
      on: { 'runtime.seen': 'registering', 'timer.elapsed': 'registering' },
    },
    registering: {
      tags: 'working',
      meta: { waitsFor: 'the Node object to be registered' },
      invoke: {
        src: 'registerNode',
        input: null,
        onDone: { target: 'makingCsiNode', actions: ['recordNode', 'recordEvents', 'tellRegistered'] },
        onError: { target: 'awaitingRegistration', actions: 'recordFailure' },
      },
    },
    awaitingRegistration: awaitingRetry('another attempt to register the node', 'registering'),
    /** A kubelet ends itself where this fails again and again; here the node stays NotReady, and tries. */
    makingCsiNode: {
      tags: 'working',
      meta: { waitsFor: 'the CSINode object to be made' },
      invoke: {
        src: 'ensureCsiNode',
        input: ({ context: { uid } }) => ({ uid }),
        onDone: { target: 'registered', actions: ['recordMade', 'tellInitialized'] },
        onError: { target: 'awaitingCsiNode', actions: 'recordFailure' },
      },
    },
    awaitingCsiNode: awaitingRetry('another attempt to make the CSINode object', 'makingCsiNode'),
    registered: { tags: 'steady' },
  },
});
