import * as z from 'zod/mini';
import { manifestMetaSchema } from './meta.ts';
import { enumStringSchema, resourceListSchema } from './scalars.ts';
import { labelSelectorSchema } from './selector.ts';

const dataSourceFields = {
  apiGroup: z.exactOptional(z.string()),
  kind: z.string(),
  name: z.string(),
};

/** Schema of the claim that is created for an ephemeral volume of a pod. */
export const volumeClaimTemplateSchema = z.strictObject({
  metadata: z.exactOptional(manifestMetaSchema),
  spec: z.strictObject({
    accessModes: z.exactOptional(
      z.array(enumStringSchema<'ReadWriteOnce' | 'ReadOnlyMany' | 'ReadWriteMany' | 'ReadWriteOncePod'>()),
    ),
    selector: z.exactOptional(labelSelectorSchema),
    resources: z.exactOptional(
      z.strictObject({
        limits: z.exactOptional(resourceListSchema),
        requests: z.exactOptional(resourceListSchema),
      }),
    ),
    volumeName: z.exactOptional(z.string()),
    storageClassName: z.exactOptional(z.string()),
    volumeMode: z.exactOptional(enumStringSchema<'Block' | 'Filesystem'>()),
    dataSource: z.exactOptional(z.strictObject(dataSourceFields)),
    dataSourceRef: z.exactOptional(z.strictObject({ ...dataSourceFields, namespace: z.exactOptional(z.string()) })),
    volumeAttributesClassName: z.exactOptional(z.string()),
  }),
});
