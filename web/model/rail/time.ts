/** Formats and parses times for the page. Times are in UTC, and durations have kubectl's format. */
import { humanDuration } from '../../../base/time/duration.ts';

/** Formats a time of day, e.g. `07:43:52`. */
export const formatClock = (at: number): string => new Date(at).toISOString().slice(11, 19);

/** Formats a date, e.g. `2026-01-01`. */
export const formatDate = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Formats a time of day, preceded by the date if it differs from that of `now`. */
export const formatTime = (at: number, now: number): string =>
  formatDate(at) === formatDate(now) ? formatClock(at) : `${formatDate(at)} ${formatClock(at)}`;

/** The largest absolute value of a JavaScript `Date`, in milliseconds. */
const MAX_DATE_MS = 8.64e15;

/** Whether a number is a valid `Date` value. */
export const isValidTime = (at: number): boolean => Math.abs(at) <= MAX_DATE_MS;

const DATE_PATTERN = /^\d{4}-\d{2}-\d{2}$/;
const TIME_PATTERN = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:\d{2})?$/i;

/** Parses a date, or a date with a time. Without an offset, the time is in UTC. Undefined if the text is neither. */
export function parseUtcTime(text: string): number | undefined {
  const [, date, time, offset = 'Z'] = TIME_PATTERN.exec(text) ?? [];
  const at = time === undefined ? parseDate(text) : Date.parse(`${date}T${time}${offset.toUpperCase()}`);
  return Number.isNaN(at) ? undefined : at;
}

/**
 * Parses a date if it has a supported format. All other formats are rejected, because browsers interpret them
 * differently.
 */
const parseDate = (text: string): number => (DATE_PATTERN.test(text) ? Date.parse(text) : Number.NaN);

/** Formats a short duration with a fraction, e.g. `2ms`, `1.6s` or `12s`. */
export function formatShortDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  return ms < 10_000 ? `${(ms / 1_000).toFixed(1)}s` : humanDuration(ms);
}

/** The content of the countdown ring next to the answer. */
export interface Countdown {
  /** The time that is left or has passed, e.g. `48s`. */
  readonly amount: string;
  /** Describes the amount, e.g. `of 160s left` or `in this state`. */
  readonly caption: string;
  /** Fraction of the time that is left, from 0 to 1. Undefined if the deadline is unknown or has passed. */
  readonly remainingFraction: number | undefined;
  /** Description for screen readers. */
  readonly description: string;
}

/**
 * Returns the time until an actor's deadline. If there is no deadline or it has passed, returns the time that the actor
 * has spent in its state.
 */
export function computeCountdown(
  { since, until }: { readonly since: number; readonly until?: number },
  now: number,
): Countdown {
  if (until !== undefined && until > now) {
    const amount = humanDuration(until - now);
    const caption = `of ${humanDuration(until - since)} left`;
    const remainingFraction = until > since ? Math.min(1, (until - now) / (until - since)) : 0;
    return { amount, caption, remainingFraction, description: `${amount} left, until ${formatClock(until)}` };
  }
  const amount = humanDuration(Math.max(0, now - since));
  const caption = until === undefined ? 'in this state' : `due since ${formatClock(until)}`;
  return { amount, caption, remainingFraction: undefined, description: `${amount} ${caption}` };
}
