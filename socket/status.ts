import type { FailureReason } from '../base/failure.ts';

/** A Kubernetes Status, which is the body of an error response. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: 'Failure';
  readonly message: string;
  readonly reason: FailureReason;
  readonly code: number;
}

/** Creates a Status from an HTTP code and a Kubernetes reason. */
export function failureStatus(code: number, reason: FailureReason, message: string): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
}
