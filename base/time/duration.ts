/** The longest delay of a Node.js timer, in milliseconds. A timer with a longer delay fires immediately. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * Formats a duration in milliseconds as kubectl does, e.g. `45s`, `3m20s` or `2d3h`. Negative durations of up to 2 s,
 * which result from clock skew, are shown as `0s`.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / SECOND);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(ms / MINUTE);
  if (minutes < 10) return joinUnits(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  return longDuration(Math.trunc(ms / HOUR), minutes);
}

/** Formats a duration in milliseconds as Go does, e.g. `350ms`, `1.2s`, `1m20s` or `5m0s`. */
export function goDuration(ms: number): string {
  const wholeMs = Math.max(0, Math.trunc(ms));
  if (wholeMs === 0) return '0s';
  if (wholeMs < SECOND) return `${wholeMs}ms`;
  const hours = Math.trunc(wholeMs / HOUR);
  const minutes = Math.trunc((wholeMs % HOUR) / MINUTE);
  const seconds = `${(wholeMs % MINUTE) / SECOND}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

function longDuration(hours: number, minutes: number): string {
  if (hours < 8) return joinUnits(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (days < 8) return joinUnits(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  const years = Math.trunc(days / 365);
  return years < 8 ? joinUnits(years, 'y', days % 365, 'd') : `${years}y`;
}

function joinUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}
