/**
 * Time limit in milliseconds for counting the previous restarts of a terminating pod. The restarts count as none if it
 * is exceeded.
 */
export const FINAL_COUNT_LIMIT_MS = 5_000;
