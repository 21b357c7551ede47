/** Validates the arguments of `createReplay`, because a recording may be truncated or of a different format. */
import * as z from 'zod/mini';
import { checkShape, functionSchema } from '../../kubernetes/api/checkShape.ts';
import type { RecordedInput } from '../boundary.ts';

const stringArray = z.array(z.string());
const object = z.looseObject({});
const objects = z.array(object);
const optionalFunction = z.optional(functionSchema);
const amountsSchema = z.looseObject({ cpuMillis: z.number(), memoryBytes: z.number(), pods: z.number() });

/** The schema of a number that may be infinite. In JSON, infinity becomes null. */
const count = z.union([z.number(), z.literal(Number.POSITIVE_INFINITY), z.null()]);

/** The initial input of a node. */
const input = z.looseObject({
  nodeName: z.string(),
  owner: z.string(),
  sources: stringArray,
  hostIps: stringArray,
  capacity: amountsSchema,
  allocatable: amountsSchema,
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
  logged: z.optional(z.union([stringArray, z.literal('unknown')])),
});

const options = z.looseObject({
  from: z.optional(
    z.looseObject({
      at: z.number(),
      actors: object,
      since: object,
      statuses: object,
      untold: z.optional(objects),
      due: z.optional(stringArray),
    }),
  ),
  at: z.optional(z.number()),
  inspect: optionalFunction,
  events: optionalFunction,
  moves: optionalFunction,
  nextTurn: optionalFunction,
});

const kind = z.enum(['answer', 'failure', 'fact', 'elapsed']);
const entrySchema = z.object({ at: z.number(), actor: z.string(), kind, source: z.string() });

const event = z.object({ value: z.looseObject({ type: z.string() }) });
const failureSchema = z.object({ value: z.looseObject({ reason: z.string(), message: z.string() }) });
/** The required fields of an entry's value, by kind. */
const values = { answer: z.object({}), failure: failureSchema, fact: event, elapsed: event };

const replaySchema = z.object({ input, entries: z.array(z.unknown()), options });

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

/** Checks a single entry. Parsing the whole array would create an equally long copy. */
function checkEntry(value: unknown, place: string): void {
  checkShape(entrySchema, value, place);
  // Safe cast: the previous check ensures that the entry has a kind.
  const { kind } = value as RecordedInput;
  checkShape(values[kind], value, place);
}
