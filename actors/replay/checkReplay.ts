/** Validates the arguments of `createReplay`, because a recording may be truncated or in a different format. */
import * as z from 'zod/mini';
import { checkShape, functionSchema } from '../../kubernetes/api/checkShape.ts';
import type { RecordedInput } from '../boundary.ts';

const stringArray = z.array(z.string());
const objectSchema = z.looseObject({});
const objectsSchema = z.array(objectSchema);
const optionalFunction = z.optional(functionSchema);
const amountsSchema = z.looseObject({ cpuMillis: z.number(), memoryBytes: z.number(), pods: z.number() });

/** The schema of a number that may be infinite. In JSON, infinity becomes null. */
const countSchema = z.union([z.number(), z.literal(Number.POSITIVE_INFINITY), z.null()]);

const inputSchema = z.looseObject({
  nodeName: z.string(),
  owner: z.string(),
  sources: stringArray,
  hostIps: stringArray,
  capacity: amountsSchema,
  allocatable: amountsSchema,
  startSlots: z.number(),
  pullSlots: countSchema,
  pullLimitMs: z.optional(z.number()),
  slowPullMs: z.optional(z.number()),
  logCheckMs: z.optional(z.number()),
  crashLoop: z.looseObject({ baseMs: z.number(), maxMs: z.number() }),
  limitedSwap: z.optional(z.boolean()),
  reportsProcessOomKills: z.optional(z.boolean()),
  reportsDeviceHealth: z.optional(z.boolean()),
  reservedCgroups: z.optional(stringArray),
  endsAll: z.optional(z.boolean()),
  statuses: objectSchema,
  allocations: objectSchema,
  probed: z.optional(objectSchema),
  containerEnds: z.optional(objectSchema),
  left: objectsSchema,
  conditions: z.optional(objectsSchema),
  admissionNode: z.optional(objectSchema),
  garbage: z.optional(z.looseObject({ perContainer: countSchema, total: countSchema })),
  imageGarbage: z.optional(objectSchema),
  eviction: z.optional(objectSchema),
  shutdown: z.optional(objectSchema),
  sinks: z.optional(objectsSchema),
  foreign: z.optional(objectsSchema),
  logged: z.optional(z.union([stringArray, z.literal('unknown')])),
});

const optionsSchema = z.looseObject({
  from: z.optional(
    z.looseObject({
      at: z.number(),
      actors: objectSchema,
      since: objectSchema,
      statuses: objectSchema,
      untold: z.optional(objectsSchema),
      due: z.optional(stringArray),
    }),
  ),
  at: z.optional(z.number()),
  inspect: optionalFunction,
  events: optionalFunction,
  onStateChange: optionalFunction,
  nextTurn: optionalFunction,
});

const kindSchema = z.enum(['answer', 'failure', 'fact', 'elapsed']);
const entrySchema = z.object({ at: z.number(), actor: z.string(), kind: kindSchema, source: z.string() });

const eventSchema = z.object({ value: z.looseObject({ type: z.string() }) });
const failureSchema = z.object({ value: z.looseObject({ reason: z.string(), message: z.string() }) });
/** Schemas for the required fields of an entry's value, by the entry's kind. */
const valueSchemas = { answer: z.object({}), failure: failureSchema, fact: eventSchema, elapsed: eventSchema };

const replaySchema = z.object({ input: inputSchema, entries: z.array(z.unknown()), options: optionsSchema });

interface ReplayArguments {
  readonly input: unknown;
  readonly entries: readonly unknown[];
  readonly options: unknown;
}

/** Throws a `TypeError` that names the first invalid field. */
export function checkReplay(args: ReplayArguments): void {
  checkShape(replaySchema, args, 'createReplay');
  for (const [index, entry] of args.entries.entries()) checkEntry(entry, `createReplay: entries[${index}]`);
}

/**
 * Checks a single entry. The entries are checked one by one, because parsing the whole array would create an equally
 * long copy.
 */
function checkEntry(value: unknown, location: string): void {
  checkShape(entrySchema, value, location);
  // Safe cast: the previous check ensures that the entry has a kind.
  const { kind } = value as RecordedInput;
  checkShape(valueSchemas[kind], value, location);
}
