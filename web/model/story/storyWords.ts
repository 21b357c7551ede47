/** Formats times and durations for the story. */
import { humanDuration } from '../../../base/time/duration.ts';
import { formatClock } from '../rail/time.ts';

/** Formats hours and minutes, e.g. `07:43`. */
export const formatMinutes = (at: number): string => formatClock(at).slice(0, 5);

/** Formats a time of day with hundredths of a second, e.g. `07:41:58.70`. */
export const formatFineClock = (at: number): string => new Date(at).toISOString().slice(11, 22);

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Formats a duration, e.g. `68ms`, `1.6s`, `112s` or `2m21s`. */
export function formatDuration(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))}ms`;
  // Do not format larger values with a decimal, because they would round to 10.0.
  if (ms < 9.95 * SECOND) return `${Number((ms / SECOND).toFixed(1))}s`;
  return humanDuration(Math.round(ms / SECOND) * SECOND);
}

/** Formats the time since a start, e.g. `+80ms`, `+1.70s` or `+3m20s`. */
export function formatOffset(ms: number): string {
  if (ms < SECOND) return `+${Math.max(0, Math.round(ms))}ms`;
  if (ms < 10 * SECOND) return `+${(ms / SECOND).toFixed(2)}s`;
  if (ms < MINUTE) return `+${(ms / SECOND).toFixed(1)}s`;
  return `+${humanDuration(ms)}`;
}
