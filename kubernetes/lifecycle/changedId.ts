/**
 * Recognizes sandboxes and containers that a restarted runtime reports under new IDs. They remain the same runs of the
 * same pod, as for a kubelet, which finds everything by labels.
 */

/**
 * The fields that identify a pod's sandbox, or a container with a given name. No two objects with the same attempt are
 * created at the same time.
 */
export interface AttemptIdentity {
  readonly id: string;
  readonly attempt: number;
  /** Creation time in milliseconds since the epoch. Undefined if it has not been read yet. */
  readonly createdAt?: number | undefined;
}

/**
 * Whether `observed` is the same object under a different ID. Both belong to the same pod and, if they are containers,
 * have the same name.
 */
export const hasChangedId = ({ id, attempt, createdAt }: AttemptIdentity, observed: AttemptIdentity): boolean =>
  observed.id !== id && observed.attempt === attempt && (createdAt === undefined || observed.createdAt === createdAt);
