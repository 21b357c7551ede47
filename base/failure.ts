/**
 * Failure reasons, either known to Kubernetes users (`ErrImagePull`, `FailedMount`) or specific to this agent
 * (`RuntimeUnavailable`). Other code branches on the reason, so the list is closed to make a typo a compile error.
 */
export const failureReasons = [
  // Reasons for failed calls to the runtime.
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
  // Reasons for pod failures.
  ...(['FailedCreatePodContainer', 'FailedCreatePodSandBox', 'FailedKillPod', 'FailedPodSandBoxStatus'] as const),
  ...(['FailedPrepareDynamicResources', 'FailedUnprepareDynamicResources'] as const),
  ...(['FailedMount', 'FailedUnmount', 'FailedValidation', 'NetworkNotReady', 'ResizePodInPlaceError'] as const),
  // Reasons for container failures.
  ...(['ErrImagePull', 'InvalidImageName', 'RegistryUnavailable', 'SignatureValidationFailed'] as const),
  ...(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError', 'ContainerNotRunning'] as const),
  ...(['FailedPreStopHook', 'PostStartHookError', 'Unhealthy'] as const),
  // Reasons for failures of the node or the agent.
  ...(['AgentFailed', 'AgentGone', 'AgentRunning', 'AgentSilent', 'NoAgent', 'InternalError'] as const),
  ...([
    'FailedNodeAllocatableEnforcement',
    'FailedRead',
    'LogindFailed',
    'RootDirectoryUnusable',
    'RootInUse',
  ] as const),
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

/** A failure as plain data, as it is passed to actors and stored in recordings. The reason is shown to users. */
export interface Failure {
  readonly reason: FailureReason;
  readonly message: string;
  /** Timestamp in milliseconds since the epoch. */
  readonly at: number;
  /** Seconds that remained of the grace period. Set only if stopping a container failed. */
  readonly graceSeconds?: number;
  /** Set if another attempt with the same input would fail in the same way. */
  readonly isPermanent?: true;
}

/** The error that services throw. The reason is for users, and the cause is for developers. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure';
  readonly reason: FailureReason;
  readonly graceSeconds: number | undefined;
  readonly isPermanent: boolean;

  constructor(
    reason: FailureReason,
    message: string,
    options: { cause?: unknown; graceSeconds?: number; isPermanent?: boolean } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.graceSeconds = options.graceSeconds;
    this.isPermanent = options.isPermanent ?? false;
  }
}

/** Converts a thrown value to a `Failure`. An error other than `NodeFailure` gets the reason `fallback`. */
export function toFailure(error: unknown, at: number, fallback: FailureReason = 'InternalError'): Failure {
  if (error instanceof NodeFailure) {
    const { reason, message, graceSeconds, isPermanent } = error;
    return {
      reason,
      message,
      at,
      ...(graceSeconds === undefined ? {} : { graceSeconds }),
      ...(isPermanent ? { isPermanent } : {}),
    };
  }
  return { reason: fallback, message: messageOf(error), at };
}

/**
 * Returns an error's message without the name of its class. An error is recognized by its shape, because each realm has
 * its own `Error`.
 */
export function messageOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('message' in error)) return String(error);
  return String(error.message);
}
