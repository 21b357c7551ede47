/** What a node agent is told once, with defaults for what a program does not care about. */
import * as z from 'zod/mini';
import type { NodeInput } from '../machines/node/context.ts';
import { problemOf } from '../pod/api/problem.ts';

/** What a node agent is told once, as it knows it. */
export type CompleteConfig = NodeInput;

type Defaulted = 'hostIps' | 'startSlots' | 'pullSlots' | 'crashLoop' | 'statuses' | 'allocations' | 'left';

/** What a node agent is told once. What may be absent is as on a node that begins with nothing. */
export type NodeAgentConfig = Omit<CompleteConfig, Defaulted> & Partial<Pick<CompleteConfig, Defaulted>>;

/** As a kubelet has them (C7); slots for a machine of two cores. */
const defaults: Pick<CompleteConfig, Defaulted> = {
  hostIps: [],
  startSlots: 4,
  pullSlots: 1,
  crashLoop: { baseMs: 10_000, maxMs: 300_000 },
  statuses: {},
  allocations: {},
  left: [],
};

const aFunction = z.custom<unknown>((value) => typeof value === 'function', { error: 'expected a function' });
const amount = z.number().check(z.gte(0));
const slots = z.int().check(z.gte(1));
const schema = z.looseObject({
  nodeName: z.string().check(z.minLength(1)),
  owner: z.string().check(z.minLength(1)),
  hostIps: z.array(z.string()),
  sources: z.array(z.string()),
  capacity: z.looseObject({ cpuMillis: amount, memoryBytes: amount, pods: amount }),
  startSlots: slots,
  // Pulls need not be bounded.
  pullSlots: z.union([slots, z.literal(Number.POSITIVE_INFINITY)]),
  crashLoop: z.object({ baseMs: amount, maxMs: amount }),
  statuses: z.looseObject({}),
  allocations: z.looseObject({}),
  left: z.array(z.looseObject({ uid: z.string() })),
  logCheckMs: z.optional(z.number().check(z.gte(1))),
  pullLimitMs: z.optional(amount),
  slowPullMs: z.optional(amount),
});

/**
 * Fills in the defaults. A configuration that lacks something, or has something else in its place, is an error at once:
 * with NaN for a time or a number of slots, pods would wait for ever.
 */
export function completeConfig(config: NodeAgentConfig): CompleteConfig {
  const complete = { ...defaults, ...config };
  mustHold('createNodeAgent', schema, complete);
  return complete;
}

/** What can tell the time and wait. */
export const clockSchema = z.looseObject({ now: aFunction, setTimeout: aFunction, clearTimeout: aFunction });
const worldSchema = z.looseObject({
  ports: z.record(z.string(), aFunction),
  feeds: z.looseObject({
    runtimeHealth: aFunction,
    pleg: aFunction,
    sources: aFunction,
    nodeFacts: aFunction,
    ticker: aFunction,
  }),
});

/** A port that is missing rejects when it is asked; a feed or a clock that is missing would be waited for. */
export function checkServices(services: unknown, options: unknown): void {
  mustHold('createNodeAgent', worldSchema, services);
  mustHold('createNodeAgent', z.looseObject({ clock: clockSchema }), options);
}

/** Throws a `TypeError` that names the field of the first thing that is wrong with the argument of a function. */
export function mustHold(of: string, what: z.ZodMiniType, argument: unknown): void {
  const issue = what.safeParse(argument).error?.issues[0];
  if (issue === undefined) return;
  const { path, message } = problemOf(issue, argument);
  throw new TypeError(`${of}: ${path === '' ? '' : `${path}: `}${message}`);
}
