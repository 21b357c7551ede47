import { type ServiceError, status } from '@grpc/grpc-js';
import { type FailureReason, NodeFailure } from '../../base/failure.ts';

/** Converts the gRPC error of a call to a failure. */
export function runtimeFailure(call: string, error: ServiceError): NodeFailure {
  const details = errorDetails(error);
  return new NodeFailure(failureReason(call, error, details), `${call}: ${details}`, { cause: error });
}

/** Pattern of the gRPC library's message for a failed connection. Captures the system's error. */
const CONNECTION_ERROR_PATTERN =
  /^No connection established\. Last error: (?:Error: )?(.*?)\.? (?:Resolution note: ?.*)?$/s;

/** Pattern of the system's error for a failed connection to a unix socket. Captures the error code and the path. */
const SOCKET_ERROR_PATTERN = /^connect (ENOENT|ECONNREFUSED|EACCES) (\/.*)$/;

/** Pattern of the message of a gRPC server that does not serve the CRI. */
const UNKNOWN_CRI_SERVICE_PATTERN = /^unknown service runtime\.v1\.(?:Runtime|Image)Service$/;

function errorDetails({ details, message }: ServiceError): string {
  const description = details === '' ? message : details.replace(CONNECTION_ERROR_PATTERN, '$1');
  const [, code, socket] = SOCKET_ERROR_PATTERN.exec(description) ?? [];
  if (code === 'ENOENT') return `there is no socket ${socket}: start the container runtime (${description})`;
  if (code === 'ECONNREFUSED') return `no container runtime listens on ${socket}: start it (${description})`;
  if (code === 'EACCES')
    return `permission denied on ${socket}: only root may use the container runtime (${description})`;
  if (!UNKNOWN_CRI_SERVICE_PATTERN.test(description)) return description;
  return `the runtime does not offer CRI v1: remove "cri" from disabled_plugins in /etc/containerd/config.toml, and restart containerd (${description})`;
}

/** Returns the failure of a call that exceeded its timeout. */
export function timeoutFailure(call: string, timeoutMs: number, cause: unknown): NodeFailure {
  return new NodeFailure('RuntimeUnavailable', `${call}: the runtime did not answer within ${timeoutMs} ms`, { cause });
}

/**
 * Whether a message reports the timeout of a single call, either in this agent or in the runtime. Other calls may still
 * succeed.
 */
export const isCallTimeoutMessage = (message: string): boolean =>
  /: the runtime did not answer within \d+ ms$|deadline exceeded/i.test(message);

/** Returns the failure of a call on a closed connection. */
export function closedConnectionFailure(call: string, cause: unknown): NodeFailure {
  return new NodeFailure('RuntimeUnavailable', `${call}: the connection to the runtime is closed`, { cause });
}

/** Returns the failure of a call that the caller aborted. */
export function cancelledFailure(call: string, cause: unknown): NodeFailure {
  return new NodeFailure('Cancelled', `${call} was cancelled`, { cause });
}

/** Returns the runtime's own message without our prefix, as the kubelet reports it. */
export function runtimeMessage(failure: NodeFailure): string {
  const { cause } = failure;
  return isServiceError(cause) ? cause.details : failure.message;
}

/**
 * Returns the runtime's message, prefixed with its gRPC status code unless the code is UNKNOWN. The kubelet reports
 * failed pulls in this form.
 */
export function runtimeMessageWithCode(failure: NodeFailure): string {
  const { cause } = failure;
  if (!isServiceError(cause) || cause.code === status.UNKNOWN) return runtimeMessage(failure);
  return formatRpcError(failure);
}

/** Formats the error of a call as Go's gRPC library does, with the status code and the details. */
export function formatRpcError(failure: NodeFailure): string {
  const { cause } = failure;
  if (!isServiceError(cause)) return failure.message;
  return `rpc error: code = ${rpcCodeName(failure)} desc = ${cause.details}`;
}

/** Returns Go's name of the status code with which a call has failed. */
export function rpcCodeName(error: unknown): string {
  const cause = error instanceof NodeFailure ? error.cause : error;
  return (isServiceError(cause) ? CODE_NAMES[cause.code] : undefined) ?? 'Unknown';
}

/** Go's names for the gRPC status codes. */
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

/** Whether the runtime rejected the call because it has reached a limit (RESOURCE_EXHAUSTED). */
export const isExhausted = ({ cause }: NodeFailure): boolean =>
  isServiceError(cause) && cause.code === status.RESOURCE_EXHAUSTED;

/** Whether an error is a gRPC status. */
export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'details' in error && typeof error.details === 'string' && 'code' in error;
}

/** Whether the call did not reach a CRI server, in which case every other call fails in the same way. */
export const isUnreachable = ({ reason, cause }: NodeFailure): boolean =>
  reason === 'RuntimeUnavailable' &&
  isServiceError(cause) &&
  (cause.code === status.UNAVAILABLE || cause.code === status.UNIMPLEMENTED);

/**
 * Pattern of the error for a name that is already in use. The message contains the ID of the object with this name. The
 * message is parsed because the CRI has no status code for this error.
 */
const NAME_RESERVED_PATTERN = /is reserved for|already exists/;

/**
 * Pattern of containerd's error if another call is already starting the container, e.g. a call of a client that has
 * exited.
 */
const ALREADY_STARTING_PATTERN = /is already in starting state/;

/**
 * Pattern of containerd 1.6's error for a container that it has lost track of, because the client was killed during the
 * start.
 */
const LOST_TASK_PATTERN = /cannot delete running task/;

/**
 * Whether the error is the runtime's response to a failed pull. Such an error describes the registry, even if its code
 * normally means an unavailable runtime. For example, containerd returns DEADLINE_EXCEEDED when the registry does not
 * respond and CANCELLED when a pull makes no progress. The metadata distinguishes the two cases: a response from the
 * runtime has headers, whereas an error of the gRPC library has none.
 */
const isRegistryError = (call: string, { metadata }: ServiceError): boolean =>
  call === 'PullImage' && metadata.get('content-type').length > 0;

function failureReason(call: string, error: ServiceError, details: string): FailureReason {
  if (isRegistryError(call, error)) return 'RuntimeError';
  switch (error.code) {
    case status.UNAVAILABLE:
    // The server cancelled the call, because it is stopping. Cancellations by this client are handled elsewhere.
    case status.CANCELLED:
      return 'RuntimeUnavailable';
    case status.DEADLINE_EXCEEDED:
      // An ExecSync that exceeds its deadline indicates a slow command, not an unavailable runtime.
      return call === 'ExecSync' ? 'DeadlineExceeded' : 'RuntimeUnavailable';
    case status.NOT_FOUND:
      return 'NotFound';
    case status.UNIMPLEMENTED:
      // If the CRI service is missing, all calls fail until the runtime is reconfigured and restarted.
      return UNKNOWN_CRI_SERVICE_PATTERN.test(error.details) ? 'RuntimeUnavailable' : 'Unimplemented';
    default:
      if (LOST_TASK_PATTERN.test(details)) return 'TaskLost';
      if (ALREADY_STARTING_PATTERN.test(details)) return 'AlreadyStarting';
      return NAME_RESERVED_PATTERN.test(details) ? 'NameReserved' : 'RuntimeError';
  }
}
