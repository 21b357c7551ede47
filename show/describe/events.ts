import type { CoreEvent } from '../../kubernetes/events/event.ts';
import { eventAge } from '../../kubernetes/events/eventTable.ts';
import { alignColumns, indentLines } from './tabbed.ts';

const compareLastTimestamps = ({ lastTimestamp: a }: CoreEvent, { lastTimestamp: b }: CoreEvent): number =>
  Date.parse(a) - Date.parse(b);

/** Formats the events of an object in chronological order. */
export function describeEvents(events: readonly CoreEvent[], now: number): string {
  if (events.length === 0) return 'Events:  <none>\n';
  const rows = [...events].sort(compareLastTimestamps).map((event) => {
    const { type, reason, source, message, involvedObject } = event;
    const containerPrefix = involvedObject.fieldPath ? `${involvedObject.fieldPath}: ` : '';
    return `${type}\t${reason}\t${eventAge(event, now)}\t${source.component}\t${containerPrefix}${message.trim()}`;
  });
  const tableLines = ['Type\tReason\tAge\tFrom\tMessage', '----\t------\t----\t----\t-------', ...rows];
  return `Events:\n${alignColumns(indentLines(1, tableLines).join('\n'))}\n`;
}
