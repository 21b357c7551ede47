import * as z from 'zod/mini';
import { parseQuantity } from '../quantity.ts';

/**
 * An amount as Kubernetes writes it (`100m`, `64Mi`), with white space around it trimmed. A number stands for its digits,
 * and a bigint for all of them.
 */
export const quantitySchema = z
  .pipe(
    z.union([z.string(), z.number(), z.bigint()]),
    z.transform((value) => String(value).trim()),
  )
  .check(z.refine((text) => parseQuantity(text) !== undefined, 'must be a quantity such as "100m", "1.5" or "64Mi"'));

/**
 * A text with a few allowed values. The schema accepts any text, as Kubernetes decodes any, and validation reports a
 * wrong one among all other problems, in its place.
 */
// The type is that of a validated pod, and no pod is used before `validatePod` has compared these texts.
export const wordSchema = <T extends string>() => z.string() as unknown as z.ZodMiniType<T, T>;

/** A point in time in RFC 3339, as `metav1.Time` decodes it. */
export const timeSchema = z.string().check(z.refine(isTime, 'must be a time such as "2006-01-02T15:04:05Z"'));

function isTime(text: string): boolean {
  const [, date = '', time = ''] = RFC_3339.exec(text) ?? [];
  // `Date` accepts February 30 and rolls over to March.
  return date !== '' && new Date(`${date}T${time}Z`).toJSON()?.startsWith(`${date}T${time}`) === true;
}

const RFC_3339 = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** A port's number or its name. */
export const intOrStringSchema = z.union([z.int32(), z.string()]);

/** Text by key: labels, annotations, selectors, attributes. */
export const textMapSchema = z.record(z.string(), z.string());

/** Amounts by resource: `{ cpu: '100m', memory: '64Mi' }`. */
export const resourceListSchema = z.record(z.string(), quantitySchema);

export type ResourceList = z.infer<typeof resourceListSchema>;

/** An object of the same namespace, by name. */
export const localObjectReferenceSchema = z.strictObject({ name: z.exactOptional(z.string()) });

/** One entry's file among a volume's: mode is the permission bits. */
export const keyToPathSchema = z.strictObject({
  key: z.string(),
  path: z.string(),
  mode: z.exactOptional(z.int32()),
});

export const pullPolicySchema = wordSchema<'Always' | 'IfNotPresent' | 'Never'>();
