import * as z from 'zod/mini';
import type { NodeActors } from '../../../show/actors/actorRows.ts';
import { podSchema } from './readPods.ts';

const failureSchema = z.looseObject({ reason: z.string(), message: z.string(), at: z.number() });

/** Validates the fields that a row needs. Other fields are passed through. */
const actorSchema = z.looseObject({
  id: z.string(),
  path: z.string(),
  machine: z.string(),
  kind: z.string(),
  name: z.string(),
  state: z.string(),
  tags: z.array(z.string()),
  since: z.number(),
  waitingFor: z.optional(z.string()),
  until: z.optional(z.number()),
  lastFailure: z.optional(failureSchema),
  facts: z.array(z.string()),
  get children() {
    return z.array(actorSchema);
  },
});

const limiterSchema = z.looseObject({ capacity: z.number(), held: z.array(z.string()), queue: z.array(z.string()) });

const responseSchema = z.looseObject({
  simulated: z.boolean(),
  at: z.number(),
  node: actorSchema,
  pods: z.array(z.looseObject({ pod: podSchema, tree: actorSchema })),
  limiters: z.array(limiterSchema),
});

export interface ActorsResponse extends NodeActors {
  readonly simulated: boolean;
}

/** Parses the response of `/actors`. */
export function readActors(response: unknown): ActorsResponse {
  // Safe cast, because the agent serialized the other fields from this type.
  return responseSchema.parse(response) as unknown as ActorsResponse;
}
