import * as z from 'zod/mini';
import { fieldRefSchema, resourceFieldRefSchema } from './env.ts';
import { networkVolumeSources } from './networkVolumes.ts';
import { enumStringSchema, keyToPathSchema, pullPolicySchema, quantitySchema } from './scalars.ts';
import { labelSelectorSchema } from './selector.ts';
import { volumeClaimTemplateSchema } from './volumeClaim.ts';

const itemsSchema = z.exactOptional(z.array(keyToPathSchema));
const optionalFlagSchema = z.exactOptional(z.boolean());
const modeSchema = z.exactOptional(z.int32());

const downwardApiItemsSchema = z.exactOptional(
  z.array(
    z.strictObject({
      path: z.string(),
      fieldRef: z.exactOptional(fieldRefSchema),
      resourceFieldRef: z.exactOptional(resourceFieldRefSchema),
      mode: modeSchema,
    }),
  ),
);

const serviceAccountTokenSchema = z.strictObject({
  audience: z.exactOptional(z.string()),
  expirationSeconds: z.exactOptional(z.int()),
  path: z.string(),
});

const clusterTrustBundleSchema = z.strictObject({
  name: z.exactOptional(z.string()),
  signerName: z.exactOptional(z.string()),
  labelSelector: z.exactOptional(labelSelectorSchema),
  optional: optionalFlagSchema,
  path: z.string(),
});

const podCertificateSchema = z.strictObject({
  signerName: z.string(),
  keyType: z.string(),
  maxExpirationSeconds: z.exactOptional(z.int32()),
  credentialBundlePath: z.exactOptional(z.string()),
  keyPath: z.exactOptional(z.string()),
  certificateChainPath: z.exactOptional(z.string()),
  userAnnotations: z.exactOptional(z.record(z.string(), z.string())),
});

const projectionSchema = z.strictObject({
  secret: z.exactOptional(
    z.strictObject({ name: z.exactOptional(z.string()), items: itemsSchema, optional: optionalFlagSchema }),
  ),
  configMap: z.exactOptional(
    z.strictObject({ name: z.exactOptional(z.string()), items: itemsSchema, optional: optionalFlagSchema }),
  ),
  downwardAPI: z.exactOptional(z.strictObject({ items: downwardApiItemsSchema })),
  serviceAccountToken: z.exactOptional(serviceAccountTokenSchema),
  clusterTrustBundle: z.exactOptional(clusterTrustBundleSchema),
  podCertificate: z.exactOptional(podCertificateSchema),
});

const hostPathSchema = z.strictObject({
  path: z.string(),
  type: z.exactOptional(
    enumStringSchema<
      '' | 'DirectoryOrCreate' | 'Directory' | 'FileOrCreate' | 'File' | 'Socket' | 'CharDevice' | 'BlockDevice'
    >(),
  ),
});

export type HostPathVolumeSource = z.infer<typeof hostPathSchema>;

const emptyDirSchema = z.strictObject({
  medium: z.exactOptional(z.string()),
  sizeLimit: z.exactOptional(quantitySchema),
});

export type EmptyDirVolumeSource = z.infer<typeof emptyDirSchema>;

/** Schema of a volume of a pod, which has a name and exactly one source. */
export const volumeSchema = z.strictObject({
  name: z.string(),
  hostPath: z.exactOptional(hostPathSchema),
  emptyDir: z.exactOptional(emptyDirSchema),
  gitRepo: z.exactOptional(
    z.strictObject({
      repository: z.string(),
      revision: z.exactOptional(z.string()),
      directory: z.exactOptional(z.string()),
    }),
  ),
  secret: z.exactOptional(
    z.strictObject({
      secretName: z.exactOptional(z.string()),
      items: itemsSchema,
      defaultMode: modeSchema,
      optional: optionalFlagSchema,
    }),
  ),
  configMap: z.exactOptional(
    z.strictObject({
      name: z.exactOptional(z.string()),
      items: itemsSchema,
      defaultMode: modeSchema,
      optional: optionalFlagSchema,
    }),
  ),
  downwardAPI: z.exactOptional(z.strictObject({ items: downwardApiItemsSchema, defaultMode: modeSchema })),
  projected: z.exactOptional(
    z.strictObject({ sources: z.exactOptional(z.array(projectionSchema)), defaultMode: modeSchema }),
  ),
  persistentVolumeClaim: z.exactOptional(
    z.strictObject({ claimName: z.string(), readOnly: z.exactOptional(z.boolean()) }),
  ),
  ephemeral: z.exactOptional(z.strictObject({ volumeClaimTemplate: z.exactOptional(volumeClaimTemplateSchema) })),
  image: z.exactOptional(
    z.strictObject({ reference: z.exactOptional(z.string()), pullPolicy: z.exactOptional(pullPolicySchema) }),
  ),
  ...networkVolumeSources,
});

export type Volume = z.infer<typeof volumeSchema>;
