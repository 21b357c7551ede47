import * as z from 'zod/mini';
import { resourceListSchema, textMapSchema } from './scalars.ts';
import { tolerationSchema } from './scheduling.ts';

/** A RuntimeClass `node.k8s.io/v1`: which of the runtime's handlers its pods run with, what that costs, and where they may run. */
export const runtimeClassSchema = z.looseObject({
  kind: z.literal('RuntimeClass'),
  metadata: z.looseObject({ name: z.string() }),
  handler: z.string(),
  overhead: z.exactOptional(z.looseObject({ podFixed: z.exactOptional(resourceListSchema) })),
  scheduling: z.exactOptional(
    z.looseObject({
      nodeSelector: z.exactOptional(textMapSchema),
      tolerations: z.exactOptional(z.array(tolerationSchema)),
    }),
  ),
});

export type RuntimeClass = z.infer<typeof runtimeClassSchema>;
