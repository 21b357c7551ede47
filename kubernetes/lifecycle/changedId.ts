/**
 * Recognizes sandboxes and containers that a restarted runtime reports under new IDs. They are treated as the same runs
 * of the same pod, as in the kubelet, which finds all objects by their labels.
 */

/**
 * Fields that identify a sandbox among those of its pod, or a container among those with the same name. The attempt
 * number and the creation time together identify the object even if its ID changes.
 */
export interface AttemptIdentity {
  readonly id: string;
  readonly attempt: number;
  /** Creation time in milliseconds since the epoch. Undefined if it has not been read yet. */
  readonly createdAt?: number | undefined;
}

/**
 * Whether `observed` is the same object under a different ID. The caller must ensure that both belong to the same pod
 * and, if they are containers, have the same name.
 */
export const hasChangedId = ({ id, attempt, createdAt }: AttemptIdentity, observed: AttemptIdentity): boolean =>
  observed.id !== id && observed.attempt === attempt && (createdAt === undefined || observed.createdAt === createdAt);
