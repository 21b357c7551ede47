import * as z from 'zod/mini';
import { manifestMetaSchema } from './meta.ts';
import { resourceListSchema, textMapSchema } from './scalars.ts';
import { tolerationSchema } from './scheduling.ts';

/** A RuntimeClass `node.k8s.io/v1`: which of the runtime's handlers its pods run with, what that costs, and where they may run. */
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
