import * as z from 'zod/mini';
import type { CoreEvent } from '../../../kubernetes/events/event.ts';

/** Validates the fields that a table needs. Other fields are passed through. */
const eventSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string() }),
  involvedObject: z.looseObject({ kind: z.string(), name: z.string() }),
  firstTimestamp: z.string(),
  lastTimestamp: z.string(),
  message: z.string(),
});

const listSchema = z.looseObject({ items: z.array(eventSchema) });

/** Parses an EventList from the agent. */
export function readEventList(response: unknown): CoreEvent[] {
  // Safe cast, because the agent serialized the other fields from this type.
  return listSchema.parse(response).items as unknown as CoreEvent[];
}

/** Parses the object of a watch event. */
export function readEvent(object: unknown): CoreEvent {
  // Safe cast, as in `readEventList`.
  return eventSchema.parse(object) as unknown as CoreEvent;
}
