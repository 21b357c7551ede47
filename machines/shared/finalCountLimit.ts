/** Time limit for counting the previous restarts of a terminating pod, in milliseconds. */
export const FINAL_COUNT_LIMIT_MS = 5_000;
