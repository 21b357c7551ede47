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
