import { type ServiceError, status } from '@grpc/grpc-js';
import { NodeFailure } from '../pod/failure.ts';

/** The failure of a call that the runtime, or the way to it, answered with a gRPC status. */
export function runtimeFailure(call: string, error: ServiceError): NodeFailure {
  const { reason, retryable } = meaning(call, error.code);
  return new NodeFailure(reason, `${call}: ${error.details || error.message}`, { retryable, cause: error });
}

/** The failure of a call that we gave up on because no answer came within its limit (milliseconds). */
export function hangingFailure(call: string, timeoutMs: number, cause: unknown): NodeFailure {
  return new NodeFailure('RuntimeUnavailable', `${call}: the runtime did not answer within ${timeoutMs} ms`, { cause });
}

/** The failure of a call on a connection that has been closed. */
export function closedFailure(call: string, cause: unknown): NodeFailure {
  return new NodeFailure('RuntimeUnavailable', `${call}: the connection to the runtime is closed`, { cause });
}

/** The failure of a call that its caller aborted. */
export function cancelledFailure(call: string, cause: unknown): NodeFailure {
  return new NodeFailure('Cancelled', `${call} was cancelled`, { cause });
}

function meaning(call: string, code: status): { reason: string; retryable: boolean } {
  switch (code) {
    case status.UNAVAILABLE:
    // Cancelled by the other side (our own cancellations do not come here): it went away in the middle of the call.
    case status.CANCELLED:
      return { reason: 'RuntimeUnavailable', retryable: true };
    case status.DEADLINE_EXCEEDED:
      // An ExecSync that exceeds its deadline tells of the command in the container, not of the runtime.
      return { reason: call === 'ExecSync' ? 'DeadlineExceeded' : 'RuntimeUnavailable', retryable: true };
    case status.NOT_FOUND:
      return { reason: 'NotFound', retryable: true };
    case status.UNIMPLEMENTED:
      return { reason: 'Unimplemented', retryable: false };
    default:
      return { reason: 'RuntimeError', retryable: true };
  }
}
