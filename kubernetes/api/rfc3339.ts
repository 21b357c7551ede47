/** What a date can be at most: a grace or a deadline may lead beyond it. */
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59);

/** A moment (milliseconds since the epoch) in UTC, with its milliseconds. */
export const isoTime = (at: number): string => new Date(Math.min(at, LATEST)).toISOString();

/** A moment (milliseconds since the epoch) as Kubernetes writes it: UTC, whole seconds (C14). */
export function rfc3339(at: number): string {
  return `${isoTime(at).slice(0, 19)}Z`;
}
