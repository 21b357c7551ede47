import { Metadata, type ServiceError, status } from '@grpc/grpc-js';

/** Name of a gRPC status code, e.g. `NOT_FOUND`. */
export type CodeName = keyof typeof status;

/** An error as a gRPC client receives it from a server. `details` is the message. */
export class CallError extends Error implements ServiceError {
  override readonly name = 'CallError';
  readonly code: status;
  readonly details: string;
  readonly metadata = new Metadata();

  constructor(code: CodeName, details: string) {
    super(details);
    this.code = status[code];
    this.details = details;
  }
}

/** Returns the error of calls while the runtime is down, and of calls that are in flight when it goes down. */
export function runtimeDownError(): CallError {
  const message = 'connection error: desc = "transport: Error while dialing: connect: connection refused"';
  return new CallError('UNAVAILABLE', message);
}

/** Whether a call failed because the runtime went down. */
export function isRuntimeDownError(error: unknown): boolean {
  return error instanceof CallError && error.code === status.UNAVAILABLE;
}
