/**
 * Why something failed, as users of Kubernetes know it (`ErrImagePull`, `FailedMount`) or as we call it
 * (`RuntimeUnavailable`). Closed, as others decide by it: a reason that is misspelt does not compile.
 */
export const failureReasons = [
  // Of the runtime's answers.
  ...([
    'RuntimeUnavailable',
    'RuntimeError',
    'TaskLost',
    'NameReserved',
    'AlreadyStarting',
    'NotFound',
    'Unimplemented',
    'DeadlineExceeded',
    'Cancelled',
    'StreamFailed',
  ] as const),
  // Of pods.
  ...(['FailedCreatePodContainer', 'FailedCreatePodSandBox', 'FailedKillPod', 'FailedPodSandBoxStatus'] as const),
  ...(['FailedPrepareDynamicResources'] as const),
  ...(['FailedMount', 'FailedUnmount', 'FailedValidation', 'NetworkNotReady', 'ResizePodInPlaceError'] as const),
  // Of containers.
  ...(['ErrImagePull', 'InvalidImageName', 'RegistryUnavailable', 'SignatureValidationFailed'] as const),
  ...(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError', 'ContainerNotRunning'] as const),
  ...(['FailedPreStopHook', 'PostStartHookError', 'Unhealthy'] as const),
  // Of the node.
  ...(['AgentFailed', 'AgentGone', 'AgentRunning', 'AgentSilent', 'NoAgent', 'InternalError'] as const),
  ...(['FailedNodeAllocatableEnforcement', 'FailedRead', 'RootDirectoryUnusable', 'RootInUse'] as const),
  ...([
    'StatusNotSent',
    'EventNotSent',
    'StoreDamaged',
    'StoreFailed',
    'RuntimeChanged',
    'LeftBehind',
    'TakeOverRefused',
  ] as const),
  ...(['CertificateDenied', 'CertificateFailed', 'CertificateNotIssued', 'CertificateUnusable'] as const),
  ...(['InvalidEndpoint', 'SocketPathTooLong', 'RunOnceFailed', 'BadRequest', 'MethodNotAllowed', 'Expired'] as const),
  ...(['AddressUnusable', 'InspectAddressUnusable', 'InvalidConfig', 'Forbidden', 'Unauthorized'] as const),
] as const;

export type FailureReason = (typeof failureReasons)[number];

/** A failure as plain data: what entered an actor, can be recorded, and is shown to users by its reason. */
export interface Failure {
  readonly reason: FailureReason;
  readonly message: string;
  /** When it happened, in milliseconds since the epoch. */
  readonly at: number;
  /** Of a stop: how many seconds are left of the grace that it gave. */
  readonly graceSeconds?: number;
}

/** The one error that services throw: its reason is what a user reads, its cause what a developer reads. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure';
  readonly reason: FailureReason;
  readonly graceSeconds: number | undefined;

  constructor(reason: FailureReason, message: string, options: { cause?: unknown; graceSeconds?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.graceSeconds = options.graceSeconds;
  }
}

/** Makes plain data of whatever a service threw; an error that is no `NodeFailure` is reported under `fallback`. */
export function toFailure(error: unknown, at: number, fallback: FailureReason = 'InternalError'): Failure {
  if (error instanceof NodeFailure) {
    const { reason, message, graceSeconds } = error;
    return { reason, message, at, ...(graceSeconds === undefined ? {} : { graceSeconds }) };
  }
  return { reason: fallback, message: messageOf(error), at };
}

/** What an error says, without the name of its class: by its shape, as each realm has an `Error` of its own. */
export function messageOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('message' in error)) return String(error);
  return String(error.message);
}
