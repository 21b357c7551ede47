/** Checks what `createNode` is given, as programs without types give it too. */
import * as z from 'zod/mini';
import { checkShape } from '../pod/api/checkShape.ts';

const aFunction = z.custom<unknown>((value) => typeof value === 'function', { error: 'expected a function' });
const maybe = z.optional(aFunction);
const name = z.string().check(z.minLength(1));
const header = z.tuple([name, z.string()]);
const aPath = name.check(z.refine((value) => !value.includes('\0'), { error: 'expected a path without NUL' }));
const amount = z.number().check(z.gte(0));
const interval = z.optional(z.number().check(z.gte(1)));
const amounts = z.looseObject({ cpuMillis: amount, memoryBytes: amount, pods: amount });
const slots = z.int().check(z.gte(1));

/** A sink is known by its name alone. */
const sinks = z
  .array(z.looseObject({ name, mustAcknowledge: z.boolean(), put: aFunction }))
  .check(({ value, issues }) => {
    const names = value.map((sink) => sink.name);
    const twice = names.findIndex((each, index) => names.indexOf(each) < index);
    const issue = {
      code: 'custom' as const,
      message: 'another sink has this name',
      path: [twice, 'name'],
      input: value,
    };
    if (twice >= 0) issues.push(issue);
  });

/** The configuration and the parts in one: no name is in both. A feed or a clock that is missing would be waited for. */
const schema = z.looseObject({
  ...{ nodeName: name, rootDir: aPath, podLogsDir: z.optional(aPath), runtimeEndpoint: name },
  hostIps: z.optional(z.union([z.array(z.string()), aFunction])),
  sources: z.optional(z.array(name)),
  ...{ capacity: amounts, allocatable: z.optional(amounts) },
  startSlots: z.optional(slots),
  // Pulls need not be bounded.
  pullSlots: z.optional(z.union([slots, z.literal(Number.POSITIVE_INFINITY)])),
  crashLoop: z.optional(z.object({ baseMs: amount, maxMs: amount })),
  ...{ pullLimitMs: z.optional(amount), slowPullMs: z.optional(amount), fileCheckMs: interval },
  staticPodPath: z.optional(aPath),
  manifestUrl: z.optional(z.looseObject({ url: name, everyMs: amount.check(z.gte(1)), headers: z.array(header) })),
  logs: z.optional(z.looseObject({ maxBytes: amount, maxFiles: amount, workers: slots, checkMs: interval })),
  cri: z.looseObject({}),
  ...{ files: z.optional(z.looseObject({})), mounter: z.optional(z.looseObject({})) },
  network: z.optional(z.looseObject({ connect: aFunction, checkHealth: aFunction, fetch: aFunction })),
  clock: z.optional(z.looseObject({ now: aFunction, setTimeout: aFunction, clearTimeout: aFunction })),
  ports: z.optional(z.record(z.string(), maybe)),
  feeds: z.optional(z.record(z.string(), maybe)),
  ...{ jitter: maybe, readClasses: maybe, findCredentials: maybe, restartRuntime: maybe, openStore: maybe },
  ...{ startThread: maybe, nextTurn: maybe },
  sinks: z.optional(sinks),
  redaction: z.optional(z.looseObject({ learn: aFunction, redact: aFunction, texts: aFunction })),
  ...{ events: maybe, record: maybe, inspect: maybe },
  ...{ onError: maybe, onManifestProblem: maybe, onAdopted: maybe, onRuntimeHealth: maybe },
});

/**
 * Throws a `TypeError` that names the field of the first thing that is wrong: with NaN for a time or a number of slots,
 * pods would wait for ever.
 */
export function checkNode(config: object, parts: object): void {
  checkShape(schema, { ...config, ...parts }, 'createNode', 'its configuration');
}
