/** Time limit for counting the previous restarts of a terminating pod, in milliseconds. */
export const LAST_COUNT_MS = 5_000;
