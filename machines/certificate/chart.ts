/**
 * Manages a certificate of the node. Requests the certificate if it is missing, and renews it in time with a new key.
 */
import { assertEvent, assign, enqueueActions, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import { involvedNode, type RecordedEvent, recordedEvents, warning } from '../../kubernetes/events/recordedEvent.ts';
import { type AlternativeNames, coversNames, NO_NAMES } from '../../kubernetes/node/alternativeNames.ts';
import type { CertificateEvent } from '../shared/events/clusterFacts.ts';
import { type PortTypes, port, timerPort } from '../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { failureOf } from '../shared/waiting/failure.ts';
import { after, retryState } from '../shared/waiting/waits.ts';
import { type CertificateName, isNodeSubject, type PersistedCertificate, renewalTime } from './certificate.ts';

// A type alias rather than an interface, because generated declaration files can inline an alias but can refer to an
// interface only by name.
export type CertificateInput = {
  readonly nodeName: string;
  readonly name: CertificateName;
  /**
   * Whether the certificate is renewed before it expires. If false, a new certificate is requested only after the old
   * one has expired.
   */
  readonly rotates: boolean;
};

/**
 * Initial delay in milliseconds of the exponential back-off between attempts to obtain the certificate, as in a
 * kubelet.
 */
const INITIAL_RETRY_MS = 2_000;
/** Maximum delay in milliseconds of the back-off between attempts to obtain the certificate. */
const MAX_RETRY_MS = 32_000;
/**
 * Time limit in milliseconds for the approval and signing of a certificate request that is not resumed. When it is
 * exceeded, a new request is created (`util/certificate/certificate_manager.go` of client-go).
 */
const APPROVAL_TIMEOUT_MS = 15 * 60_000;
/**
 * Time limit in milliseconds for the approval and signing of a resumed request. When it is exceeded, the same request is
 * awaited again (`pkg/kubelet/certificate/bootstrap/bootstrap.go` of the kubelet).
 */
const RESUMED_APPROVAL_TIMEOUT_MS = 60 * 60_000;

/**
 * Minimum time in milliseconds for which a certificate is used, even if clock skew makes it due for renewal at once
 * (the loop of `util/certificate/certificate_manager.go` of client-go).
 */
const MIN_USE_MS = 1_000;

type CertificateContext = CertificateInput & {
  /** The names and addresses that the certificate has to cover. */
  readonly names: AlternativeNames;
  readonly certificate?: PersistedCertificate | undefined;
  /** Time at which the next certificate is requested, in milliseconds since the epoch. */
  readonly dueAt: number;
  /** The pending request, and the names that it covers. */
  readonly request: { readonly name: string; readonly uid: string; readonly names: AlternativeNames };
  readonly deadline: number;
  readonly waitMs: number;
  readonly retryAt: number;
  readonly failure?: Failure | undefined;
};

const REFUSAL_REASONS: readonly string[] = ['CertificateDenied', 'CertificateFailed'];

const NO_REQUEST = { name: '', uid: '', names: NO_NAMES };

type PortOutput = Partial<PortTypes['readCertificate']['output'] & PortTypes['requestCertificate']['output']>;

// Safe cast: only ports of this machine have an output.
const portOutput = (event: object): PortOutput => ('output' in event ? (event.output as PortOutput) : {});

/**
 * Whether an existing request is resumed. As in the kubelet, the bootstrap request has a fixed name and is resumed,
 * whereas each renewal creates a new request.
 */
const resumesRequest = ({ rotates }: CertificateInput): boolean => !rotates;
const approvalTimeoutMs = (input: CertificateInput): number =>
  resumesRequest(input) ? RESUMED_APPROVAL_TIMEOUT_MS : APPROVAL_TIMEOUT_MS;

const isSuitable = (
  { nodeName, name, names }: Pick<CertificateContext, 'nodeName' | 'name' | 'names'>,
  certificate: PersistedCertificate | null | undefined,
): boolean =>
  !!certificate &&
  isNodeSubject(certificate.subject, nodeName) &&
  (name === 'client' || coversNames(certificate.names, names));

const certificateSetup = setup({
  types: {
    input: {} as CertificateInput,
    context: {} as CertificateContext,
    events: {} as CertificateEvent,
    emitted: {} as RecordedEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: {
    readCertificate: port('readCertificate'),
    requestCertificate: port('requestCertificate'),
    awaitCertificate: port('awaitCertificate'),
    timer: timerPort(),
  },
  guards: {
    /**
     * Whether a serving certificate would have no IP address. Like the kubelet, the node does not request such a
     * certificate.
     */
    hasNoIpAddress: ({ context: { name, names } }) => name === 'serving' && names.ips.length === 0,
    isCertificateSuitable: ({ context, event }) => isSuitable(context, portOutput(event).certificate),
    makesCertificateUnsuitable: ({ context: { nodeName, name, certificate }, event }) => {
      assertEvent(event, 'certificate.namesChanged');
      return !isSuitable({ nodeName, name, names: event.names }, certificate);
    },
    /** Whether the pending request no longer covers all required names. */
    makesRequestOutdated: ({ context: { request }, event }) => {
      assertEvent(event, 'certificate.namesChanged');
      return !coversNames(request.names, event.names);
    },
  },
  actions: {
    recordNames: assign(({ event }) => {
      assertEvent(event, 'certificate.namesChanged');
      return { names: event.names };
    }),
    recordCertificate: assign(({ context: { rotates }, event }) => {
      const { certificate, chance = 0, at = 0 } = portOutput(event);
      if (!certificate) return { failure: undefined };
      const dueAt = rotates ? renewalTime(certificate, chance) : certificate.notAfter;
      return { certificate, dueAt: Math.max(dueAt, at + MIN_USE_MS), failure: undefined };
    }),
    resetRetries: assign({ request: NO_REQUEST, waitMs: INITIAL_RETRY_MS }),
    recordRequest: assign(({ context, event }) => {
      const { names } = context;
      const { request: name = '', uid = '', at = 0 } = portOutput(event);
      return { request: { name, uid, names }, deadline: at + approvalTimeoutMs(context) };
    }),
    recordFailure: assign(({ context: { waitMs }, event }) => {
      const failure = failureOf(event);
      const backOff = { retryAt: failure.at + waitMs, waitMs: Math.min(waitMs * 2, MAX_RETRY_MS) };
      return { ...backOff, failure, request: NO_REQUEST };
    }),
    /** Records an event when the request is denied or fails, unless the previous attempt failed for the same reason. */
    recordRefusalEvent: enqueueActions(({ context: { nodeName, failure: lastFailure }, event, enqueue }) => {
      const { reason, message } = failureOf(event);
      if (!REFUSAL_REASONS.includes(reason) || lastFailure?.reason === reason) return;
      for (const each of recordedEvents(involvedNode(nodeName), warning(reason, message))) enqueue.emit(each);
    }),
  },
});

const retryTransition = { target: 'awaitingRetry', actions: ['recordRefusalEvent', 'recordFailure'] } as const;

export const certificateMachine = certificateSetup.createMachine({
  id: 'certificate',
  description: 'A certificate that the node manages: as a client of the API server, or for its own HTTPS server.',
  meta: {
    coverageGap: {
      reason: 'simulated nodes have no certificates; tested on its machine and in test/actors/cluster/certificates',
    },
    formatWait: (waitsFor: string, { snapshot: { context } }: ActorInfo<CertificateContext>) =>
      waitsFor
        .replace('a certificate', `a ${context.name} certificate`)
        .replace(/\brequest\b/, `request ${context.request.name}`),
    facts: ({ snapshot: { context } }: ActorInfo<CertificateContext>) => ({
      kind: 'certificate',
      name: context.name,
      facts: [context.certificate === undefined ? 'not issued yet' : validityText(context.certificate)],
    }),
  },
  context: ({ input }) => ({
    ...input,
    names: NO_NAMES,
    dueAt: 0,
    request: NO_REQUEST,
    deadline: 0,
    waitMs: INITIAL_RETRY_MS,
    retryAt: 0,
  }),
  initial: 'reading',
  on: { 'certificate.namesChanged': { actions: 'recordNames' } },
  states: {
    reading: {
      description: 'The files of the certificate are read, which an earlier agent or a kubelet may have left.',
      tags: 'working',
      meta: { waitsFor: 'the files of its certificate to be read' },
      invoke: {
        src: 'readCertificate',
        input: ({ context: { name } }) => ({ name }),
        onDone: [
          { guard: 'isCertificateSuitable', target: 'current', actions: 'recordCertificate' },
          { target: 'choosing', actions: 'recordCertificate' },
        ],
        onError: { target: 'awaitingFiles', actions: 'recordFailure' },
      },
    },
    awaitingFiles: retryState('reading', {
      description: 'The files could not be read. Another attempt follows after a delay that grows up to 32 s.',
      waitsFor: 'another attempt to read the files of its certificate',
      withinMs: MAX_RETRY_MS,
    }),
    current: {
      description:
        'The certificate is in use. A new one is requested after 70 to 90 % of its life, or when the addresses of the Node change.',
      tags: 'steady',
      meta: { waitsFor: 'the certificate to be due for renewal', until: 'dueAt' },
      entry: 'resetRetries',
      invoke: after(({ dueAt }: CertificateContext) => ({ until: dueAt })),
      on: {
        'timer.elapsed': 'choosing',
        'certificate.namesChanged': [
          { guard: 'makesCertificateUnsuitable', target: 'choosing', actions: 'recordNames' },
          { actions: 'recordNames' },
        ],
      },
    },
    choosing: {
      description:
        'A new certificate is due. A serving certificate is requested only once the addresses that it has to name are known.',
      tags: 'working',
      always: [{ guard: 'hasNoIpAddress', target: 'awaitingNames' }, { target: 'requesting' }],
    },
    awaitingNames: {
      description: 'The Node has no IP address yet, or the API server has not shown it.',
      tags: 'waiting',
      meta: { waitsFor: 'an IP address of its Node, which a certificate has to name' },
      on: { 'certificate.namesChanged': { target: 'choosing', actions: 'recordNames' } },
    },
    requesting: {
      description: 'A new key is generated, and a certificate for it is requested from the API server.',
      tags: 'working',
      meta: { waitsFor: 'a certificate to be requested' },
      invoke: {
        src: 'requestCertificate',
        input: ({ context }) => ({ name: context.name, names: context.names, resumes: resumesRequest(context) }),
        onDone: { target: 'awaitingApproval', actions: 'recordRequest' },
        onError: retryTransition,
      },
    },
    awaitingApproval: {
      description:
        'The request has to be approved and signed, possibly by a person. After 15 minutes a new request is created.',
      tags: 'waiting',
      meta: { waitsFor: 'its request for a certificate to be approved', until: 'deadline' },
      invoke: {
        src: 'awaitCertificate',
        input: ({ context }) => ({
          name: context.name,
          request: context.request.name,
          uid: context.request.uid,
          limitMs: approvalTimeoutMs(context),
        }),
        onDone: { target: 'current', actions: 'recordCertificate' },
        onError: retryTransition,
      },
      on: {
        'certificate.namesChanged': [
          { guard: 'makesRequestOutdated', target: 'choosing', actions: 'recordNames' },
          { actions: 'recordNames' },
        ],
      },
    },
    awaitingRetry: retryState('choosing', {
      description:
        'The request failed, was denied or timed out. Another one follows after a delay that grows up to 32 s. A kubelet with an expired certificate exits after 5 minutes; this node continues.',
      waitsFor: 'another attempt to get a certificate',
      withinMs: MAX_RETRY_MS,
    }),
  },
});

const validityText = ({ notAfter }: PersistedCertificate): string => `good until ${new Date(notAfter).toISOString()}`;
