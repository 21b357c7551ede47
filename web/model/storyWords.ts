/** Moments and durations in the words of the story. */
import { humanDuration } from '../../base/duration.ts';
import { clockOf } from './time.ts';

/** `07:43`. */
export const minuteText = (at: number): string => clockOf(at).slice(0, 5);

/** `07:41:58.70`. */
export const fineClockText = (at: number): string => new Date(at).toISOString().slice(11, 22);

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** How long something took: `68ms`, `1.6s`, `112s`, `2m21s`. */
export function tookText(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))}ms`;
  // Rounded it would be 10.0.
  if (ms < 9.95 * SECOND) return `${Number((ms / SECOND).toFixed(1))}s`;
  return humanDuration(Math.round(ms / SECOND) * SECOND);
}

/** How long after the beginning: `+80ms`, `+1.70s`, `+3m20s`. */
export function offsetText(ms: number): string {
  if (ms < SECOND) return `+${Math.max(0, Math.round(ms))}ms`;
  if (ms < 10 * SECOND) return `+${(ms / SECOND).toFixed(2)}s`;
  if (ms < MINUTE) return `+${(ms / SECOND).toFixed(1)}s`;
  return `+${humanDuration(ms)}`;
}
