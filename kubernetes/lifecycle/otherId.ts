/**
 * A runtime may come back with what it had under other ids. As to a kubelet, which finds all by labels, it is the same pod
 * with the same runs.
 */

/** By what a sandbox of a pod, or a container of one name in it, is known again: no two of one number are made at once. */
export interface Identified {
  readonly id: string;
  readonly attempt: number;
  /** In milliseconds since the epoch; absent where nobody has told yet. */
  readonly createdAt?: number | undefined;
}

/** Whether what is shown is what was known under another id; both are of one pod and, if they are containers, of one name. */
export const isUnderOtherId = ({ id, attempt, createdAt }: Identified, shown: Identified): boolean =>
  shown.id !== id && shown.attempt === attempt && (createdAt === undefined || shown.createdAt === createdAt);
