/** The longest that a timer of Node.js can count, in milliseconds; a longer one fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A duration in milliseconds as kubectl writes it: `45s`, `3m20s`, `2d3h`. Up to 2 s of clock skew count as none. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / SECOND);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(ms / MINUTE);
  if (minutes < 10) return joined(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  return longDuration(Math.trunc(ms / HOUR), minutes);
}

/** A duration in milliseconds as Go writes it: `350ms`, `1.2s`, `1m20s`, `5m0s`. */
export function goDuration(ms: number): string {
  const whole = Math.max(0, Math.trunc(ms));
  if (whole === 0) return '0s';
  if (whole < SECOND) return `${whole}ms`;
  const hours = Math.trunc(whole / HOUR);
  const minutes = Math.trunc((whole % HOUR) / MINUTE);
  const seconds = `${(whole % MINUTE) / SECOND}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

function longDuration(hours: number, minutes: number): string {
  if (hours < 8) return joined(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (days < 8) return joined(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  const years = Math.trunc(days / 365);
  return years < 8 ? joined(years, 'y', days % 365, 'd') : `${years}y`;
}

function joined(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}
