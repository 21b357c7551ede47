import type { FailureReason } from '../base/failure.ts';

/** A Kubernetes Status: how an API tells of a failure. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: 'Failure';
  readonly message: string;
  readonly reason: FailureReason;
  readonly code: number;
}

/** A failure under HTTP's code and Kubernetes' reason. */
export function failure(code: number, reason: FailureReason, message: string): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
}
