/**
 * Time limit in milliseconds for counting the previous restarts of a terminating pod. If it is exceeded, the pod is
 * assumed to have no previous restarts.
 */
export const FINAL_COUNT_LIMIT_MS = 5_000;
