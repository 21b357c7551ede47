/** Parses the lines of a recording. The file may come from another version or be no recording at all. */
import * as z from 'zod/mini';
import { parsedJson } from '../base/parsedJson.ts';
import { FORMAT, type Line } from './lines.ts';
import { isBounded, type WithoutRepeats, withRepeats } from './repeatedParts.ts';

const object = z.looseObject({});
/** Range of a Date, in milliseconds since the epoch. */
const timestamp = z.number().check(z.gte(-8.64e15), z.lte(8.64e15));
const head = { at: timestamp };
const entry = { ...head, actor: z.string(), source: z.string() };
const text = z.string();
/** The written form of a keyframe, in which objects that actors share are listed separately. */
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

/** Returns undefined if this version does not support the line. */
export function readLine(json: string): Line | undefined {
  const parsed = line.safeParse(parsedJson(json));
  // The fields that the schema does not check were written by the same program, or are validated when the line is
  // replayed.
  return parsed.success ? (parsed.data as unknown as Line) : undefined;
}

const foreignHeader = z.looseObject({
  ...head,
  kind: z.literal('began'),
  format: z.union([z.number(), text]),
  life: z.optional(text),
  versions: z.optional(z.looseObject({ statelet: z.optional(text) })),
});

/** A segment header in the format of another version. */
export interface ForeignBegan {
  readonly at: number;
  readonly format: string;
  readonly life: string;
  /** The version of statelet that wrote it, if the header has one where this version expects it. */
  readonly statelet: string;
}

/** Returns undefined unless the line is a segment header in a format that this version does not support. */
export function readForeignBegan(json: string): ForeignBegan | undefined {
  const { data } = foreignHeader.safeParse(parsedJson(json));
  if (data === undefined || data.format === FORMAT) return undefined;
  const { at, format, life = '', versions } = data;
  return { at, format: String(format), life, statelet: versions?.statelet ?? 'of another version' };
}

/** Returns the error message for a recording in an unsupported format. */
export const unsupportedFormatMessage = ({ format, statelet }: Pick<ForeignBegan, 'format' | 'statelet'>): string =>
  `recorded by statelet ${statelet} in format ${format}, which this version does not read (it reads format ${FORMAT}): use that version`;
