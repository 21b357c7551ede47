/**
 * Parses the lines of a recording. The file may have been written by a different version or may not be a recording at
 * all.
 */
import * as z from 'zod/mini';
import { parseJson } from '../base/values/parseJson.ts';
import { FORMAT_VERSION, type RecordingLine } from './lines.ts';
import { type DeduplicatedValue, isWithinLimits, restoreRepeatedObjects } from './repeatedParts.ts';

const objectSchema = z.looseObject({});
/** A timestamp within the range of a Date, in milliseconds since the epoch. */
const timestampSchema = z.number().check(z.gte(-8.64e15), z.lte(8.64e15));
const commonFields = { at: timestampSchema };
const entryFields = { ...commonFields, actor: z.string(), source: z.string() };
const stringSchema = z.string();
/** The serialized form of a keyframe, in which objects that several actors share are listed separately. */
const serializedKeyframeSchema = z
  .object({ value: z.unknown(), shared: z.array(z.unknown()) })
  .check(z.refine((serialized: DeduplicatedValue) => isWithinLimits(serialized)));
const keyframeSchema = z.pipe(
  z.pipe(
    serializedKeyframeSchema,
    z.transform((serialized: DeduplicatedValue) => restoreRepeatedObjects(serialized)),
  ),
  objectSchema,
);

const lineSchema = z.discriminatedUnion('kind', [
  z.looseObject({
    ...commonFields,
    kind: z.literal('began'),
    format: z.literal(FORMAT_VERSION),
    machines: stringSchema,
    life: stringSchema,
    versions: z.object({ statelet: stringSchema, node: stringSchema }),
    input: objectSchema,
    from: z.optional(keyframeSchema),
    missed: z.optional(z.number()),
    before: z.optional(z.number()),
  }),
  z.looseObject({ ...entryFields, kind: z.enum(['answer', 'failure', 'fact', 'elapsed']) }),
  z.looseObject({
    ...commonFields,
    kind: z.literal('asked'),
    actor: stringSchema,
    port: stringSchema,
    about: z.optional(stringSchema),
  }),
  z.looseObject({ ...commonFields, kind: z.literal('state'), actor: stringSchema, state: stringSchema }),
  z.looseObject({
    ...commonFields,
    kind: z.literal('status'),
    uid: stringSchema,
    pod: stringSchema,
    status: z.optional(objectSchema),
  }),
  z.looseObject({
    ...commonFields,
    kind: z.literal('event'),
    eventType: z.enum(['Normal', 'Warning']),
    reason: stringSchema,
    message: stringSchema,
    involved: z.looseObject({
      kind: stringSchema,
      name: stringSchema,
      namespace: z.optional(stringSchema),
      fieldPath: z.optional(stringSchema),
    }),
  }),
  z.looseObject({
    ...commonFields,
    kind: z.literal('ended'),
    untold: z.optional(z.array(stringSchema)),
    missed: z.optional(z.number()),
  }),
]);

/** Parses a line. Returns undefined if this version does not support the line. */
export function readLine(json: string): RecordingLine | undefined {
  const result = lineSchema.safeParse(parseJson(json));
  // Safe cast: fields that the schema does not check were written by the same program or are validated during the
  // replay.
  return result.success ? (result.data as unknown as RecordingLine) : undefined;
}

const foreignHeaderSchema = z.looseObject({
  ...commonFields,
  kind: z.literal('began'),
  format: z.union([z.number(), stringSchema]),
  life: z.optional(stringSchema),
  versions: z.optional(z.looseObject({ statelet: z.optional(stringSchema) })),
});

/** A segment header in the format of a different version. */
export interface ForeignHeader {
  readonly at: number;
  readonly format: string;
  readonly life: string;
  /** The version of statelet that wrote the header, if the header contains it in the expected field. */
  readonly statelet: string;
}

/** Parses a segment header in a format that this version does not support. Returns undefined for all other lines. */
export function readForeignHeader(json: string): ForeignHeader | undefined {
  const { data } = foreignHeaderSchema.safeParse(parseJson(json));
  if (data === undefined || data.format === FORMAT_VERSION) return undefined;
  const { at, format, life = '', versions } = data;
  return { at, format: String(format), life, statelet: versions?.statelet ?? 'of another version' };
}

/** Returns the error message for a recording in an unsupported format. */
export const unsupportedFormatMessage = ({
  format,
  statelet: stateletVersion,
}: Pick<ForeignHeader, 'format' | 'statelet'>): string =>
  `recorded by statelet ${stateletVersion} in format ${format}, which this version does not read (it reads format ${FORMAT_VERSION}): use that version`;
