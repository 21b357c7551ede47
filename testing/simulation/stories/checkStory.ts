/** Validates stories and their sizes, because programs without type checking may pass anything. */
import * as z from 'zod/mini';
import { checkShape } from '../../../kubernetes/api/checkShape.ts';
import { TOPOLOGY_POLICIES } from '../../../kubernetes/cpus/topologyHints.ts';
import { checkCallFault } from '../faults/checkCallFault.ts';
import { SIMULATED_MACHINES } from '../host/cpuTopologies.ts';
import { DISK_LAYOUTS } from '../host/hostResources.ts';
import { checkSeed } from '../random.ts';
import { MAX_SPAN_MS } from '../run/schedule.ts';
import { checkAction } from './checkAction.ts';
import type { Story, StorySize } from './story.ts';

/** Limits of a story that a host can run in a reasonable time. */
const MOST_PODS = 1_000;
const MOST = 100_000;

const count = z.int().check(z.gte(0), z.lte(MOST));
const share = z.number().check(z.gte(0), z.lte(1));
const ms = z.number().check(z.gte(0), z.lte(MAX_SPAN_MS));
const yesOrNo = z.optional(z.boolean());

const SIZE: { readonly [Field in keyof StorySize]-?: z.ZodMiniType } = {
  pods: z.int().check(z.gte(1), z.lte(MOST_PODS)),
  actions: count,
  faults: count,
  lastsMs: z.int().check(z.gte(0), z.lte(MAX_SPAN_MS)),
  crowdedShare: z.optional(share),
};
const size = z.strictObject(SIZE);

const STORY: { readonly [Field in keyof Story]-?: z.ZodMiniType } = {
  /** `checkSeed` validates the seed. */
  seed: z.unknown(),
  actions: z.array(z.strictObject({ at: ms, action: z.unknown() })),
  faults: z.array(z.strictObject({ call: z.int().check(z.gte(0)), fault: z.unknown() })),
  lastsMs: ms,
  overtakes: yesOrNo,
  hasUrl: yesOrNo,
  cgroups: z.optional(z.enum(['writable', 'readOnly', 'unused'])),
  machine: z.optional(z.enum(SIMULATED_MACHINES)),
  assignsMemory: z.optional(yesOrNo),
  topology: z.optional(z.strictObject({ policy: z.enum(TOPOLOGY_POLICIES), isPerPod: z.boolean() })),
  hasPlugin: yesOrNo,
  evicts: z.optional(yesOrNo),
  diskLayout: z.optional(z.enum(DISK_LAYOUTS)),
  followsShutdown: z.optional(yesOrNo),
  objects: z.optional(z.enum(['Watch', 'Cache', 'Get'])),
};
const story = z.strictObject(STORY);

const found = z.looseObject({
  number: z.optional(z.int()),
  description: z.optional(z.string()),
  message: z.string(),
  step: z.number(),
  elapsed: z.number(),
  explanations: z.array(z.string()),
  story,
});

/** Throws a `TypeError` that names the first invalid field of a story's size, or a `RangeError` for the seed. */
export function checkSize(seed: number, given: StorySize): void {
  checkSeed(seed);
  checkShape(size, given, 'randomStory', 'its size');
}

/** Throws a `TypeError` that names the first invalid field of a story, or a `RangeError` for the seed. */
export function checkStory(given: Story): void {
  checkShape(story, given, 'findViolation', 'its story');
  checkSeed(given.seed);
  for (const [index, { action }] of given.actions.entries())
    checkAction(action, `findViolation: actions[${index}].action: `);
  for (const [index, { fault }] of given.faults.entries())
    checkCallFault(fault, `findViolation: faults[${index}].fault: `);
}

/** Throws a `TypeError` that names the first invalid field of a finding. */
export const checkFinding = (given: unknown): void => checkShape(found, given, 'formatFinding', 'the finding');
