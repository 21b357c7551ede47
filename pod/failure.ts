/** A failure as plain data: what entered an actor, can be recorded, and is shown to users by its reason. */
export interface Failure {
  /** The word that Kubernetes users know (`ErrImagePull`, `FailedMount`), or one of ours (`RuntimeUnavailable`). */
  readonly reason: string;
  readonly message: string;
  /** When it happened, in milliseconds since the epoch. */
  readonly at: number;
}

/** The one error that services throw: its reason is what a user reads, its cause what a developer reads. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure';
  readonly reason: string;

  constructor(reason: string, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
  }
}

/** Makes plain data of whatever a service threw; an error that is no `NodeFailure` is reported under `fallback`. */
export function toFailure(error: unknown, at: number, fallback = 'InternalError'): Failure {
  if (error instanceof NodeFailure) {
    return { reason: error.reason, message: error.message, at };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { reason: fallback, message, at };
}
