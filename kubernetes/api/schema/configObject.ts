/** Schemas of ConfigMaps and Secrets from files and API servers. */
import * as z from 'zod/mini';
import { manifestMetaSchema } from './meta.ts';
import { bytesMapSchema, textMapSchema } from './scalars.ts';

const commonFields = {
  apiVersion: z.literal('v1'),
  metadata: z.extend(manifestMetaSchema, { name: z.string() }),
  immutable: z.exactOptional(z.boolean()),
};

export const configMapSchema = z.strictObject({
  ...commonFields,
  kind: z.literal('ConfigMap'),
  data: z.exactOptional(textMapSchema),
  binaryData: z.exactOptional(bytesMapSchema),
});

export const secretSchema = z.strictObject({
  ...commonFields,
  kind: z.literal('Secret'),
  type: z.exactOptional(z.string()),
  data: z.exactOptional(bytesMapSchema),
  stringData: z.exactOptional(textMapSchema),
});
