import * as z from 'zod/mini';
import type { CoreEvent } from '../../../kubernetes/events/event.ts';

/** As much of an event as a table needs; the rest is as the agent wrote it. */
const eventShape = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string() }),
  involvedObject: z.looseObject({ kind: z.string(), name: z.string() }),
  firstTimestamp: z.string(),
  lastTimestamp: z.string(),
  message: z.string(),
});

const listShape = z.looseObject({ items: z.array(eventShape) });

/** The events of an EventList from the agent's socket. */
export function readEventList(answer: unknown): CoreEvent[] {
  // The agent wrote the other fields from this very type.
  return listShape.parse(answer).items as unknown as CoreEvent[];
}

/** The event that a watch tells of. */
export function readEvent(object: unknown): CoreEvent {
  // As above.
  return eventShape.parse(object) as unknown as CoreEvent;
}
