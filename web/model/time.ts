/** Moments in the words of the page: UTC, durations as kubectl writes them. */
import { humanDuration } from '../../base/duration.ts';

/** `07:43:52`. */
export const clockOf = (at: number): string => new Date(at).toISOString().slice(11, 19);

/** `2026-01-01`. */
export const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** `07:43:52`, and of another day than today's its date before. */
export const momentText = (at: number, now: number): string =>
  dateOf(at) === dateOf(now) ? clockOf(at) : `${dateOf(at)} ${clockOf(at)}`;

/** The farthest that a moment of JavaScript is from the epoch. */
const FARTHEST_MS = 8.64e15;

/** Whether there is such a moment. */
export const isMoment = (at: number): boolean => Math.abs(at) <= FARTHEST_MS;

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:\d{2})?$/i;

/** The moment of a date, or of a date and a time; without an offset it is UTC. Undefined: the text names none. */
export function utcMoment(text: string): number | undefined {
  const [, date, time, offset = 'Z'] = TIME.exec(text) ?? [];
  const at = time === undefined ? parsedDate(text) : Date.parse(`${date}T${time}${offset.toUpperCase()}`);
  return Number.isNaN(at) ? undefined : at;
}

/** Of what else a browser takes for a date nobody can tell. */
const parsedDate = (text: string): number => (DATE.test(text) ? Date.parse(text) : Number.NaN);

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
