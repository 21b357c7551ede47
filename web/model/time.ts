/** Moments in the words of the page: UTC, durations as kubectl writes them. */
import { humanDuration } from '../../pod/api/duration.ts';

/** `07:43:52`. */
export const clockOf = (at: number): string => new Date(at).toISOString().slice(11, 19);

/** How long something took, where less than a second counts: `2ms`, `1.6s`, `12s`. */
export function shortSpan(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  return ms < 10_000 ? `${(ms / 1_000).toFixed(1)}s` : humanDuration(ms);
}

/** What the ring beside the answer shows. */
export interface Countdown {
  /** `48s` */
  readonly amount: string;
  /** `of 160s left`, `in this state` */
  readonly beside: string;
  /** How much of the time is left, from 0 to 1; undefined: it has no end that is known. */
  readonly left: number | undefined;
  /** The same for those who hear it. */
  readonly said: string;
}

/** The time that an actor has left in its state or, where nothing ends it at a known time, how long it has been there. */
export function countdownOf(
  { since, until }: { readonly since: number; readonly until?: number },
  now: number,
): Countdown {
  if (until !== undefined && until > now) {
    const amount = humanDuration(until - now);
    const beside = `of ${humanDuration(until - since)} left`;
    const left = until > since ? Math.min(1, (until - now) / (until - since)) : 0;
    return { amount, beside, left, said: `${amount} left, until ${clockOf(until)}` };
  }
  const amount = humanDuration(Math.max(0, now - since));
  const beside = until === undefined ? 'in this state' : `due since ${clockOf(until)}`;
  return { amount, beside, left: undefined, said: `${amount} ${beside}` };
}
