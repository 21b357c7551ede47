/** Formats events like kubectl: a table for `get events`, and the age and count of an event for `describe`. */
import { humanDuration } from '../../base/time/duration.ts';
import type { CoreEvent } from './event.ts';

const NARROW_COLUMNS = ['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'];
const WIDE_COLUMNS = [
  'LAST SEEN',
  'TYPE',
  'REASON',
  'OBJECT',
  'SUBOBJECT',
  'SOURCE',
  'MESSAGE',
  'FIRST SEEN',
  'COUNT',
  'NAME',
];

const ageOf = (time: string, now: number): string => humanDuration(now - Date.parse(time));

/** Returns the object of an event in kubectl's notation, e.g. `pod/web`. */
const formatObject = ({ involvedObject: { kind, name } }: CoreEvent): string => `${kind.toLowerCase()}/${name}`;

/** Returns the table as rows of cells, starting with the header. `now` is in milliseconds since the epoch. */
export function eventTable(events: readonly CoreEvent[], { wide, now }: { wide: boolean; now: number }): string[][] {
  const rows = events.map((event) => {
    const { type, reason, involvedObject, source, count, metadata } = event;
    const [lastSeen, firstSeen] = [ageOf(event.lastTimestamp, now), ageOf(event.firstTimestamp, now)];
    const message = event.message.trim();
    if (!wide) return [lastSeen, type, reason, formatObject(event), message];
    const sourceText = `${source.component}, ${source.host}`;
    const subobject = involvedObject.fieldPath ?? '';
    return [
      lastSeen,
      type,
      reason,
      formatObject(event),
      subobject,
      sourceText,
      message,
      firstSeen,
      String(count),
      metadata.name,
    ];
  });
  return [wide ? WIDE_COLUMNS : NARROW_COLUMNS, ...rows];
}

/** Formats the age of an event, e.g. `45s`, or `45s (x3 over 2m)` if it occurred several times. */
export function eventAge({ count, firstTimestamp, lastTimestamp }: CoreEvent, now: number): string {
  if (count <= 1) return ageOf(firstTimestamp, now);
  return `${ageOf(lastTimestamp, now)} (x${count} over ${ageOf(firstTimestamp, now)})`;
}
