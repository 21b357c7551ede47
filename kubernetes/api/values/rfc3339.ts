/**
 * Latest timestamp that can be formatted. It replaces all later timestamps, which can result from a long grace period
 * or deadline.
 */
const MAX_TIMESTAMP_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

/** Formats a timestamp (milliseconds since the epoch) in UTC with a fraction of three digits. */
export const isoTime = (timestamp: number): string => new Date(Math.min(timestamp, MAX_TIMESTAMP_MS)).toISOString();

/** Formats a timestamp (milliseconds since the epoch) like Kubernetes, in UTC and whole seconds (C14). */
export function rfc3339(timestamp: number): string {
  return `${isoTime(timestamp).slice(0, 19)}Z`;
}
