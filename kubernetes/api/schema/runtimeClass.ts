import * as z from 'zod/mini';
import { manifestMetaSchema } from './meta.ts';
import { resourceListSchema, textMapSchema } from './scalars.ts';
import { tolerationSchema } from './scheduling.ts';

/**
 * Schema of a RuntimeClass (`node.k8s.io/v1`), which selects a handler of the runtime and sets the overhead and the
 * scheduling constraints of its pods.
 */
export const runtimeClassSchema = z.strictObject({
  apiVersion: z.literal('node.k8s.io/v1'),
  kind: z.literal('RuntimeClass'),
  metadata: z.extend(manifestMetaSchema, { name: z.string() }),
  handler: z.string(),
  overhead: z.exactOptional(z.strictObject({ podFixed: z.exactOptional(resourceListSchema) })),
  scheduling: z.exactOptional(
    z.strictObject({
      nodeSelector: z.exactOptional(textMapSchema),
      tolerations: z.exactOptional(z.array(tolerationSchema)),
    }),
  ),
});

export type RuntimeClass = Omit<z.infer<typeof runtimeClassSchema>, 'apiVersion' | 'kind'>;
