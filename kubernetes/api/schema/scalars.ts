import * as z from 'zod/mini';
import { scalarMismatch, scalarValue } from '../decode/decodeScalar.ts';
import type { ScalarKind } from '../decode/goType.ts';
import { mismatchIssue } from '../decode/mismatchIssue.ts';
import { withGoType } from '../decode/schemaType.ts';

/** Creates the schema of a scalar that has a special JSON form, e.g. a quantity or a time. */
function scalarSchema<T>(kind: ScalarKind): z.ZodMiniType<T> {
  const type = { kind };
  const schema = z.pipe(
    z.unknown(),
    z.transform((value, { issues }) => {
      const reason = scalarMismatch(value, type);
      if (reason !== undefined) issues.push({ ...mismatchIssue({ path: [], value, type, reason }) });
      return scalarValue(value, kind);
    }),
  );
  // Safe cast, because only values of this kind match the schema.
  return withGoType(schema as unknown as z.ZodMiniType<T>, type);
}

/** Schema of a quantity (`100m`, `64Mi`). Trims surrounding white space, and accepts numbers, including bigints. */
export const quantitySchema = scalarSchema<string>('quantity');

/** Schema of an RFC 3339 timestamp, in all forms that `metav1.Time` accepts. */
export const timeSchema = scalarSchema<string>('time');

/** Schema of a port number or name. */
export const intOrStringSchema = scalarSchema<number | string>('intOrString');

/** Schema of a map from keys to base64-encoded bytes. */
export const bytesMapSchema = z.record(z.string(), scalarSchema<string>('bytes'));

/**
 * Schema of a string with a few allowed values. It accepts any string, as Kubernetes's decoder does, so that validation
 * can report a wrong value in its proper place among the other problems.
 */
// Safe cast, because the type is that of a validated pod, and `validatePod` checks the values before a pod is used.
export const enumStringSchema = <T extends string>() => z.string() as unknown as z.ZodMiniType<T, T>;

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
