/** Validates stories and their sizes, because programs that are not type-checked may pass anything. */
import * as z from 'zod/mini';
import { checkShape } from '../../../kubernetes/api/checkShape.ts';
import { checkFate } from '../faults/fates.ts';
import { checkSeed } from '../random.ts';
import { LONGEST_MS } from '../run/schedule.ts';
import { checkDeed } from './checkDeed.ts';
import type { Story, StorySize } from './story.ts';

/** Limits of a story that a host can run in a reasonable time. */
const MOST_PODS = 1_000;
const MOST = 100_000;

const count = z.int().check(z.gte(0), z.lte(MOST));
const share = z.number().check(z.gte(0), z.lte(1));
const ms = z.number().check(z.gte(0), z.lte(LONGEST_MS));
const yesOrNo = z.optional(z.boolean());

const SIZE: { readonly [Field in keyof StorySize]-?: z.ZodMiniType } = {
  pods: z.int().check(z.gte(1), z.lte(MOST_PODS)),
  deeds: count,
  faults: count,
  lastsMs: z.int().check(z.gte(0), z.lte(LONGEST_MS)),
  crowded: z.optional(share),
};
const size = z.strictObject(SIZE);

const STORY: { readonly [Field in keyof Story]-?: z.ZodMiniType } = {
  /** Validated by `checkSeed`. */
  seed: z.unknown(),
  moments: z.array(z.strictObject({ at: ms, deed: z.unknown() })),
  faults: z.array(z.strictObject({ call: z.int().check(z.gte(0)), fate: z.unknown() })),
  lastsMs: ms,
  overtakes: yesOrNo,
  hasUrl: yesOrNo,
  cgroups: z.optional(z.enum(['writable', 'readOnly', 'unused'])),
  objects: z.optional(z.enum(['Watch', 'Cache', 'Get'])),
};
const story = z.strictObject(STORY);

const found = z.looseObject({
  number: z.optional(z.int()),
  says: z.optional(z.string()),
  message: z.string(),
  step: z.number(),
  elapsed: z.number(),
  explanations: z.array(z.string()),
  story,
});

/** Throws a `TypeError` that names the first invalid field of the size of a story, or a `RangeError` for the seed. */
export function checkSize(seed: number, given: StorySize): void {
  checkSeed(seed);
  checkShape(size, given, 'drawnStory', 'its size');
}

/** Throws a `TypeError` that names the first invalid field of a story, or a `RangeError` for the seed. */
export function checkStory(given: Story): void {
  checkShape(story, given, 'whatItBreaks', 'its story');
  checkSeed(given.seed);
  for (const [index, { deed }] of given.moments.entries()) checkDeed(deed, `whatItBreaks: moments[${index}].deed: `);
  for (const [index, { fate }] of given.faults.entries()) checkFate(fate, `whatItBreaks: faults[${index}].fate: `);
}

/** Throws a `TypeError` that names the first invalid field of a finding. */
export const checkFound = (given: unknown): void => checkShape(found, given, 'foundText', 'what was found');
