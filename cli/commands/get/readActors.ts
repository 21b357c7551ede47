import * as z from 'zod/mini';
import type { NodeActors } from '../../../show/actors/actorRows.ts';
import { podShape } from './readPods.ts';

const failureShape = z.looseObject({ reason: z.string(), message: z.string(), at: z.number() });

/** As much of an actor as its row needs; the rest is as the agent wrote it. */
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

const shape = z.looseObject({
  simulated: z.boolean(),
  at: z.number(),
  node: actorShape,
  pods: z.array(z.looseObject({ pod: podShape, tree: actorShape })),
  limiters: z.array(limiterShape),
});

/** All actors of a node, and whether it runs real containers. */
export interface AnsweredActors extends NodeActors {
  readonly simulated: boolean;
}

/** The actors that the agent's socket answers. */
export function readActors(answer: unknown): AnsweredActors {
  // The agent wrote the other fields from this very type.
  return shape.parse(answer) as unknown as AnsweredActors;
}
