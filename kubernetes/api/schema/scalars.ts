import * as z from 'zod/mini';
import { parseQuantity } from '../values/quantity.ts';

/** Schema of a quantity (`100m`, `64Mi`). Trims surrounding white space, and accepts numbers, including bigints. */
export const quantitySchema = z
  .pipe(
    z.union([z.string(), z.number(), z.bigint()]),
    z.transform((value) => String(value).trim()),
  )
  .check(z.refine((text) => parseQuantity(text) !== undefined, 'must be a quantity such as "100m", "1.5" or "64Mi"'));

/**
 * Schema of a string with a few allowed values. It accepts any string, as Kubernetes's decoder does, so that validation
 * can report a wrong value in its proper place among the other problems.
 */
// Safe cast, because the type is that of a validated pod, and `validatePod` checks the values before a pod is used.
export const enumStringSchema = <T extends string>() => z.string() as unknown as z.ZodMiniType<T, T>;

/** Schema of an RFC 3339 timestamp, in all forms that `metav1.Time` accepts. */
export const timeSchema = z.string().check(z.refine(isRfc3339Time, 'must be a time such as "2006-01-02T15:04:05Z"'));

/** Whether `metav1.Time` accepts a text as a time. A comma may separate the fraction. */
export function isRfc3339Time(text: string): boolean {
  const [, date = '', time = ''] = RFC_3339.exec(text) ?? [];
  // Reject dates such as February 30, which `Date` would convert to a day in March.
  return date !== '' && new Date(`${date}T${time}Z`).toJSON()?.startsWith(`${date}T${time}`) === true;
}

const RFC_3339 = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Schema of a port number or name. */
export const intOrStringSchema = z.union([z.int32(), z.string()]);

/** Schema of a string map, e.g. labels, annotations, selectors or attributes. */
export const textMapSchema = z.record(z.string(), z.string());

/** Schema of quantities by resource name, e.g. `{ cpu: '100m', memory: '64Mi' }`. */
export const resourceListSchema = z.record(z.string(), quantitySchema);

export type ResourceList = z.infer<typeof resourceListSchema>;

/** Schema of a reference to an object in the same namespace. */
export const localObjectReferenceSchema = z.strictObject({ name: z.exactOptional(z.string()) });

/** Schema of an item that maps a key to a file in a volume. The mode consists of permission bits. */
export const keyToPathSchema = z.strictObject({
  key: z.string(),
  path: z.string(),
  mode: z.exactOptional(z.int32()),
});

export const pullPolicySchema = enumStringSchema<'Always' | 'IfNotPresent' | 'Never'>();
