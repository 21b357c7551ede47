/** Schemas of ConfigMaps and Secrets from files and API servers. */
import * as z from 'zod/mini';
import { manifestMetaSchema } from './meta.ts';

/**
 * Schema of string values by key. The result is a list of entries, because a plain object would lose the key
 * `__proto__`. A null becomes an empty string, as in Go.
 */
const textEntriesSchema = z.pipe(
  z.unknown(),
  z.transform((value, { issues }): (readonly [key: string, text: string])[] => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      issues.push({ code: 'invalid_type', expected: 'object', input: value });
      return [];
    }
    const entries: (readonly [string, unknown])[] = Object.entries(value);
    return entries.flatMap(([key, text]) => {
      if (typeof text === 'string') return [[key, text] as const];
      if (text === null) return [[key, ''] as const];
      issues.push({ code: 'invalid_type', expected: 'string', input: text, path: [key] });
      return [];
    });
  }),
);

const commonFields = {
  apiVersion: z.literal('v1'),
  metadata: z.extend(manifestMetaSchema, { name: z.string() }),
  immutable: z.exactOptional(z.boolean()),
};

export const configMapSchema = z.strictObject({
  ...commonFields,
  kind: z.literal('ConfigMap'),
  data: z.exactOptional(textEntriesSchema),
  binaryData: z.exactOptional(textEntriesSchema),
});

export const secretSchema = z.strictObject({
  ...commonFields,
  kind: z.literal('Secret'),
  type: z.exactOptional(z.string()),
  data: z.exactOptional(textEntriesSchema),
  stringData: z.exactOptional(textEntriesSchema),
});
