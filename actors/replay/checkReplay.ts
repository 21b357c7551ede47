/** Checks what `createReplay` is given: a recording may come from a file that is cut, or of something else. */
import * as z from 'zod/mini';
import { checkShape, functionSchema } from '../../kubernetes/api/checkShape.ts';
import type { Entry } from '../boundary.ts';

const texts = z.array(z.string());
const object = z.looseObject({});
const objects = z.array(object);
const maybe = z.optional(functionSchema);
const amounts = z.looseObject({ cpuMillis: z.number(), memoryBytes: z.number(), pods: z.number() });

/** What need not be bounded: for that JSON has null. */
const count = z.union([z.number(), z.literal(Number.POSITIVE_INFINITY), z.null()]);

/** What a node begins with, as far as its own shape goes. */
const input = z.looseObject({
  nodeName: z.string(),
  owner: z.string(),
  sources: texts,
  hostIps: texts,
  capacity: amounts,
  allocatable: amounts,
  startSlots: z.number(),
  pullSlots: count,
  pullLimitMs: z.optional(z.number()),
  slowPullMs: z.optional(z.number()),
  logCheckMs: z.optional(z.number()),
  crashLoop: z.looseObject({ baseMs: z.number(), maxMs: z.number() }),
  limitedSwap: z.optional(z.boolean()),
  endsAll: z.optional(z.boolean()),
  statuses: object,
  allocations: object,
  probed: z.optional(object),
  containerEnds: z.optional(object),
  left: objects,
  conditions: z.optional(objects),
  admissionNode: z.optional(object),
  garbage: z.optional(z.looseObject({ perContainer: count, total: count })),
  sinks: z.optional(objects),
  foreign: z.optional(objects),
  logged: z.optional(z.union([texts, z.literal('unknown')])),
});

const options = z.looseObject({
  from: z.optional(
    z.looseObject({
      at: z.number(),
      actors: object,
      since: object,
      statuses: object,
      untold: z.optional(objects),
      due: z.optional(texts),
    }),
  ),
  at: z.optional(z.number()),
  inspect: maybe,
  events: maybe,
  moves: maybe,
  nextTurn: maybe,
});

const kind = z.enum(['answer', 'failure', 'fact', 'elapsed']);
const entry = z.object({ at: z.number(), actor: z.string(), kind, source: z.string() });

const event = z.object({ value: z.looseObject({ type: z.string() }) });
const failure = z.object({ value: z.looseObject({ reason: z.string(), message: z.string() }) });
/** What the actors look at before anything else does. */
const values = { answer: z.object({}), failure, fact: event, elapsed: event };

const replay = z.object({ input, entries: z.array(z.unknown()), options });

interface Given {
  readonly input: unknown;
  readonly entries: readonly unknown[];
  readonly options: unknown;
}

/** Throws a `TypeError` that names the first field that is wrong. */
export function checkReplay(given: Given): void {
  checkShape(replay, given, 'createReplay');
  for (const [index, each] of given.entries.entries()) checkEntry(each, `createReplay: entries[${index}]`);
}

/** One by one: there are many, and a list of what was parsed would be as long. */
function checkEntry(given: unknown, taker: string): void {
  checkShape(entry, given, taker);
  // It has just been seen to have one.
  const { kind } = given as Entry;
  checkShape(values[kind], given, taker);
}
