import * as z from 'zod/mini';
import type { NodeActors } from '../../../show/actors/actorRows.ts';
import { podShape } from './readPods.ts';

const failureShape = z.looseObject({ reason: z.string(), message: z.string(), at: z.number() });

/** Validates the fields that a row needs. Other fields are passed through. */
const actorShape = z.looseObject({
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
  lastFailure: z.optional(failureShape),
  facts: z.array(z.string()),
  get children() {
    return z.array(actorShape);
  },
});

const limiterShape = z.looseObject({ capacity: z.number(), held: z.array(z.string()), queue: z.array(z.string()) });

const responseShape = z.looseObject({
  simulated: z.boolean(),
  at: z.number(),
  node: actorShape,
  pods: z.array(z.looseObject({ pod: podShape, tree: actorShape })),
  limiters: z.array(limiterShape),
});

export interface ActorsResponse extends NodeActors {
  readonly simulated: boolean;
}

/** Parses the response of `/actors`. */
export function readActors(response: unknown): ActorsResponse {
  // Safe cast: the agent serialized the other fields from this type.
  return responseShape.parse(response) as unknown as ActorsResponse;
}
