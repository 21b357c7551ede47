/** Events as kubectl shows them: a line each in `get events`, counted ones with their first time in `describe`. */
import { humanDuration } from '../../base/duration.ts';
import type { CoreEvent } from './event.ts';

const NARROW = ['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'];
const WIDE = ['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'SUBOBJECT', 'SOURCE', 'MESSAGE', 'FIRST SEEN', 'COUNT', 'NAME'];

const since = (time: string, now: number): string => humanDuration(now - Date.parse(time));

/** What an event is about, as it is asked for: `pod/web`. */
const objectOf = ({ involvedObject: { kind, name } }: CoreEvent): string => `${kind.toLowerCase()}/${name}`;

/** The table of events as lines of cells, the header first; `now` is in milliseconds since the epoch. */
export function eventTable(events: readonly CoreEvent[], { wide, now }: { wide: boolean; now: number }): string[][] {
  const rows = events.map((event) => {
    const { type, reason, involvedObject, source, count, metadata } = event;
    const [last, first] = [since(event.lastTimestamp, now), since(event.firstTimestamp, now)];
    const message = event.message.trim();
    if (!wide) return [last, type, reason, objectOf(event), message];
    const from = `${source.component}, ${source.host}`;
    const subobject = involvedObject.fieldPath ?? '';
    return [last, type, reason, objectOf(event), subobject, from, message, first, String(count), metadata.name];
  });
  return [wide ? WIDE : NARROW, ...rows];
}

/** `45s`, or `45s (x3 over 2m)` of one that was counted. */
export function eventAge({ count, firstTimestamp, lastTimestamp }: CoreEvent, now: number): string {
  if (count <= 1) return since(firstTimestamp, now);
  return `${since(lastTimestamp, now)} (x${count} over ${since(firstTimestamp, now)})`;
}
