/** Reads lines of a recording, which may be of another version or no such file at all. */
import * as z from 'zod/mini';
import { parsedJson } from '../base/parsedJson.ts';
import { FORMAT, type Line } from './lines.ts';
import { isBounded, type WithoutRepeats, withRepeats } from './repeatedParts.ts';

const object = z.looseObject({});
/** That of a date. */
const at = z.number().check(z.gte(-8.64e15), z.lte(8.64e15));
const head = { at };
const entry = { ...head, actor: z.string(), source: z.string() };
const text = z.string();
/** A keyframe as it is written, with what its actors have in common apart. */
const writtenKeyframe = z
  .object({ value: z.unknown(), shared: z.array(z.unknown()) })
  .check(z.refine((written: WithoutRepeats) => isBounded(written)));
const keyframe = z.pipe(
  z.pipe(
    writtenKeyframe,
    z.transform((written: WithoutRepeats) => withRepeats(written)),
  ),
  object,
);

const line = z.discriminatedUnion('kind', [
  z.looseObject({
    ...head,
    kind: z.literal('began'),
    format: z.literal(FORMAT),
    machines: text,
    life: text,
    versions: z.object({ statelet: text, node: text }),
    input: object,
    from: z.optional(keyframe),
    missed: z.optional(z.number()),
    before: z.optional(z.number()),
  }),
  z.looseObject({ ...entry, kind: z.enum(['answer', 'failure', 'fact', 'elapsed']) }),
  z.looseObject({ ...head, kind: z.literal('asked'), actor: text, port: text, about: z.optional(text) }),
  z.looseObject({ ...head, kind: z.literal('state'), actor: text, state: text }),
  z.looseObject({ ...head, kind: z.literal('status'), uid: text, pod: text, status: z.optional(object) }),
  z.looseObject({
    ...head,
    kind: z.literal('event'),
    eventType: z.enum(['Normal', 'Warning']),
    reason: text,
    message: text,
    involved: z.looseObject({ kind: text, name: text, namespace: z.optional(text), fieldPath: z.optional(text) }),
  }),
  z.looseObject({
    ...head,
    kind: z.literal('ended'),
    untold: z.optional(z.array(text)),
    missed: z.optional(z.number()),
  }),
]);

/** Undefined where it is none that this version knows. */
export function readLine(json: string): Line | undefined {
  const read = line.safeParse(parsedJson(json));
  // What is below these fields was written by the same program, or is looked at when it is played.
  return read.success ? (read.data as unknown as Line) : undefined;
}

const foreign = z.looseObject({
  ...head,
  kind: z.literal('began'),
  format: z.union([z.number(), text]),
  life: z.optional(text),
  versions: z.optional(z.looseObject({ statelet: z.optional(text) })),
});

/** A beginning that another version has written, in a format of its own. */
export interface ForeignBegan {
  readonly at: number;
  readonly format: string;
  readonly life: string;
  /** That of the version that has written it, where that says it in the same way. */
  readonly statelet: string;
}

/** Undefined where the line is no beginning, or one of the format of this version. */
export function readForeignBegan(json: string): ForeignBegan | undefined {
  const { data } = foreign.safeParse(parsedJson(json));
  if (data === undefined || data.format === FORMAT) return undefined;
  const { at, format, life = '', versions } = data;
  return { at, format: String(format), life, statelet: versions?.statelet ?? 'of another version' };
}

/** What is said of such a recording to whoever wants to read it. */
export const foreignText = ({ format, statelet }: Pick<ForeignBegan, 'format' | 'statelet'>): string =>
  `recorded by statelet ${statelet} in format ${format}, which this version does not read (it reads format ${FORMAT}): use that version`;
