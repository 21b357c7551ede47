const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const padTwoDigits = (value: number): string => String(Math.trunc(Math.abs(value))).padStart(2, '0');

/** Formats a timestamp in the local time zone as `describe` does: `Sat, 21 Nov 2026 13:05:07 +0100`. */
export function formatLocalTime(time: string | null | undefined): string {
  const at = new Date(time ?? Number.NaN);
  // Go prints this value for a zero time.
  if (Number.isNaN(at.getTime())) return 'Mon, 01 Jan 0001 00:00:00 +0000';
  const offset = -at.getTimezoneOffset();
  const timeZone = `${offset < 0 ? '-' : '+'}${padTwoDigits(offset / 60)}${padTwoDigits(offset % 60)}`;
  const day = `${DAYS[at.getDay()]}, ${padTwoDigits(at.getDate())} ${MONTHS[at.getMonth()]} ${at.getFullYear()}`;
  return `${day} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(padTwoDigits).join(':')} ${timeZone}`;
}
