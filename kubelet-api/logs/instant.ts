/** Parses timestamps with nanoseconds and converts them to UTC strings that sort chronologically. */

/** RFC 3339 as parsed by Go's time.Parse, which accepts one-digit hours and a comma before the fraction. */
const RFC3339_PATTERN = /^(\d{4}-\d\d-\d\dT)(\d\d?)(:\d\d:\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/;
const MAX_ZONE_OFFSET = { hours: 24, minutes: 59 };

/**
 * Converts an RFC 3339 timestamp to a UTC string such as `2026-05-04T12:00:00.123456789`. Returns undefined if the text
 * is not a timestamp.
 */
export function parseInstant(text: string): string | undefined {
  const [, date = '', hour = '', rest = '', fraction = '', zone = ''] = RFC3339_PATTERN.exec(text) ?? [];
  return date === '' ? undefined : toUtcInstant(`${date}${hour.padStart(2, '0')}${rest}`, fraction, zone);
}

/** Converts a timestamp, split into its whole seconds, its fraction and its time zone, to UTC. */
export function toUtcInstant(whole: string, fraction: string, zone: string): string | undefined {
  if (!isValidDate(whole)) return undefined;
  const offsetMinutes = zone === 'Z' ? 0 : parseZoneMinutes(zone);
  if (offsetMinutes === undefined) return undefined;
  const utc = offsetMinutes === 0 ? whole : formatSeconds(Date.parse(`${whole}Z`) - offsetMinutes * 60_000);
  return `${utc}.${fraction.padEnd(9, '0').slice(0, 9)}`;
}

/** Converts milliseconds since the epoch. Returns the earliest time if the value is out of range. */
export function formatInstant(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? '' : `${date.toISOString().slice(0, -1)}000000`;
}

/** Whether a date exists in the calendar. `Date` would convert e.g. February 30 to a day in March. */
function isValidDate(whole: string): boolean {
  const ms = Date.parse(`${whole}Z`);
  return !Number.isNaN(ms) && formatSeconds(ms) === whole;
}

const formatSeconds = (ms: number): string => new Date(ms).toISOString().slice(0, 19);

function parseZoneMinutes(zone: string): number | undefined {
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4, 6))];
  if (hours > MAX_ZONE_OFFSET.hours || minutes > MAX_ZONE_OFFSET.minutes) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
