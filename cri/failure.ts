import { type ServiceError, status } from '@grpc/grpc-js';
import { type FailureReason, NodeFailure } from '../base/failure.ts';

/** The failure of a call that the runtime, or the way to it, answered with a gRPC status. */
export function runtimeFailure(call: string, error: ServiceError): NodeFailure {
  const details = detailsOf(error);
  return new NodeFailure(reasonOf(call, error, details), `${call}: ${details}`, { cause: error });
}

/** The gRPC library's own words around what the system said of a connection that cannot be made. */
const NO_CONNECTION = /^No connection established\. Last error: (?:Error: )?(.*?)\.? (?:Resolution note: ?.*)?$/s;

/** The system's words for a socket that cannot be connected to: the error and the path. */
const NO_SOCKET = /^connect (ENOENT|ECONNREFUSED|EACCES) (\/.*)$/;

/** A gRPC server's words for a service that it does not have. */
const NO_SERVICE = /^unknown service runtime\.v1\.(?:Runtime|Image)Service$/;

function detailsOf({ details, message }: ServiceError): string {
  const text = details === '' ? message : details.replace(NO_CONNECTION, '$1');
  const [, code, socket] = NO_SOCKET.exec(text) ?? [];
  if (code === 'ENOENT') return `there is no socket ${socket}: start the container runtime (${text})`;
  if (code === 'ECONNREFUSED') return `no container runtime listens on ${socket}: start it (${text})`;
  if (code === 'EACCES') return `permission denied on ${socket}: only root may use the container runtime (${text})`;
  if (!NO_SERVICE.test(text)) return text;
  return `the runtime does not offer CRI v1: remove "cri" from disabled_plugins in /etc/containerd/config.toml, and restart containerd (${text})`;
}

/** The failure of a call that we gave up on because no answer came within its limit (milliseconds). */
export function hangingFailure(call: string, timeoutMs: number, cause: unknown): NodeFailure {
  return new NodeFailure('RuntimeUnavailable', `${call}: the runtime did not answer within ${timeoutMs} ms`, { cause });
}

/**
 * Whether a message is about one call that took too long, at this agent's limit or at the runtime's own. The runtime may
 * answer all other calls.
 */
export const isAboutLateCall = (message: string): boolean =>
  /: the runtime did not answer within \d+ ms$|deadline exceeded/i.test(message);

/** The failure of a call on a connection that has been closed. */
export function closedFailure(call: string, cause: unknown): NodeFailure {
  return new NodeFailure('RuntimeUnavailable', `${call}: the connection to the runtime is closed`, { cause });
}

/** The failure of a call that its caller aborted. */
export function cancelledFailure(call: string, cause: unknown): NodeFailure {
  return new NodeFailure('Cancelled', `${call} was cancelled`, { cause });
}

/** What the runtime itself said, without our naming of the call: the words that users know from a kubelet. */
export function runtimeMessage(failure: NodeFailure): string {
  const { cause } = failure;
  return isServiceError(cause) ? cause.details : failure.message;
}

/** As above with the status code before it, unless that says nothing: a failed pull is told so. */
export function runtimeMessageWithCode(failure: NodeFailure): string {
  const { cause } = failure;
  if (!isServiceError(cause) || cause.code === status.UNKNOWN) return runtimeMessage(failure);
  return rpcErrorText(failure);
}

/** As Go writes an error of a call: its status code, also one that says nothing, and the details. */
export function rpcErrorText(failure: NodeFailure): string {
  const { cause } = failure;
  if (!isServiceError(cause)) return failure.message;
  return `rpc error: code = ${CODE_NAMES[cause.code] ?? 'Unknown'} desc = ${cause.details}`;
}

/** The codes that a refusal comes with, as Go writes them. */
const CODE_NAMES: Readonly<Partial<Record<status, string>>> = {
  [status.CANCELLED]: 'Canceled',
  [status.INVALID_ARGUMENT]: 'InvalidArgument',
  [status.DEADLINE_EXCEEDED]: 'DeadlineExceeded',
  [status.NOT_FOUND]: 'NotFound',
  [status.ALREADY_EXISTS]: 'AlreadyExists',
  [status.PERMISSION_DENIED]: 'PermissionDenied',
  [status.RESOURCE_EXHAUSTED]: 'ResourceExhausted',
  [status.FAILED_PRECONDITION]: 'FailedPrecondition',
  [status.ABORTED]: 'Aborted',
  [status.UNIMPLEMENTED]: 'Unimplemented',
  [status.INTERNAL]: 'Internal',
  [status.UNAVAILABLE]: 'Unavailable',
  [status.UNAUTHENTICATED]: 'Unauthenticated',
};

/** Whether the runtime refuses because it has too much of that under way. */
export const isExhausted = ({ cause }: NodeFailure): boolean =>
  isServiceError(cause) && cause.code === status.RESOURCE_EXHAUSTED;

/** Whether an error is the answer of a gRPC call: its details are in the message of the failure that is made of it. */
export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'details' in error && typeof error.details === 'string' && 'code' in error;
}

/** Whether the call did not reach a CRI server, so that every other call fails in the same way. */
export const isUnreachable = ({ reason, cause }: NodeFailure): boolean =>
  reason === 'RuntimeUnavailable' &&
  isServiceError(cause) &&
  (cause.code === status.UNAVAILABLE || cause.code === status.UNIMPLEMENTED);

/** Runtimes name the holder of a reserved name in the message; there is no code for it. */
const NAME_RESERVED = /is reserved for|already exists/;

/** Of containerd: another call to start the container is under way, be it that whoever made that is gone. */
const ALREADY_STARTING = /is already in starting state/;

/** Of containerd 1.6, which may lose track of a container that it was starting when its client is killed. */
const TASK_LOST = /cannot delete running task/;

/**
 * Whether the runtime sent the status of a failed pull. Such a status describes the registry, even if its code is one that
 * otherwise means an unavailable runtime: containerd answers DEADLINE_EXCEEDED when the registry's host does not, and
 * CANCELLED when a pull makes no progress. Only a response has headers; the gRPC library adds none to its own errors.
 */
const describesRegistry = (call: string, { metadata }: ServiceError): boolean =>
  call === 'PullImage' && metadata.get('content-type').length > 0;

function reasonOf(call: string, error: ServiceError, details: string): FailureReason {
  if (describesRegistry(call, error)) return 'RuntimeError';
  switch (error.code) {
    case status.UNAVAILABLE:
    // Cancelled by the other side (our own cancellations do not come here): it went away in the middle of the call.
    case status.CANCELLED:
      return 'RuntimeUnavailable';
    case status.DEADLINE_EXCEEDED:
      // An ExecSync that exceeds its deadline tells of the command in the container, not of the runtime.
      return call === 'ExecSync' ? 'DeadlineExceeded' : 'RuntimeUnavailable';
    case status.NOT_FOUND:
      return 'NotFound';
    case status.UNIMPLEMENTED:
      // Not one call is missing but all, until the runtime is configured and restarted.
      return NO_SERVICE.test(error.details) ? 'RuntimeUnavailable' : 'Unimplemented';
    default:
      if (TASK_LOST.test(details)) return 'TaskLost';
      if (ALREADY_STARTING.test(details)) return 'AlreadyStarting';
      return NAME_RESERVED.test(details) ? 'NameReserved' : 'RuntimeError';
  }
}
