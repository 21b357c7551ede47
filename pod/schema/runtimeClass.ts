import * as z from 'zod/mini';

/** A RuntimeClass `node.k8s.io/v1`: which of the runtime's handlers its pods run with. The rest is the API server's. */
export const runtimeClassSchema = z.looseObject({
  kind: z.literal('RuntimeClass'),
  metadata: z.looseObject({ name: z.string() }),
  handler: z.string(),
});
