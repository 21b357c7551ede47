import { Metadata, type ServiceError, status } from '@grpc/grpc-js';

/** The name of a gRPC status: `NOT_FOUND`. */
export type CodeName = keyof typeof status;

/** An error as a gRPC server answers it and as a gRPC client gets it; `details` is its text. */
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

/** The error of every call while the runtime is away, and of those that its going away cuts off. */
export function gone(): CallError {
  const message = 'connection error: desc = "transport: Error while dialing: connect: connection refused"';
  return new CallError('UNAVAILABLE', message);
}

/** Whether a call was cut off by the runtime's own going away. */
export function isGone(error: unknown): boolean {
  return error instanceof CallError && error.code === status.UNAVAILABLE;
}
