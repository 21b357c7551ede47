import * as z from 'zod/mini';
import { containerSchema, ephemeralContainerSchema, resourceRequirementsSchema } from './container.ts';
import { manifestMetaSchema, objectMetaSchema } from './meta.ts';
import { enumStringSchema, localObjectReferenceSchema, resourceListSchema } from './scalars.ts';
import { schedulingFields } from './scheduling.ts';
import { podSecurityContextSchema } from './security.ts';
import type { PodStatus } from './status.ts';
import { volumeSchema } from './volume.ts';

const dnsConfigSchema = z.strictObject({
  nameservers: z.exactOptional(z.array(z.string())),
  searches: z.exactOptional(z.array(z.string())),
  options: z.exactOptional(
    z.array(z.strictObject({ name: z.exactOptional(z.string()), value: z.exactOptional(z.string()) })),
  ),
});

export type PodDnsConfig = z.infer<typeof dnsConfigSchema>;

const podResourceClaimSchema = z.strictObject({
  name: z.string(),
  resourceClaimName: z.exactOptional(z.string()),
  resourceClaimTemplateName: z.exactOptional(z.string()),
});

const podSpecSchema = z.strictObject({
  volumes: z.exactOptional(z.array(volumeSchema)),
  initContainers: z.exactOptional(z.array(containerSchema)),
  containers: z.array(containerSchema),
  ephemeralContainers: z.exactOptional(z.array(ephemeralContainerSchema)),
  restartPolicy: z.exactOptional(enumStringSchema<'Always' | 'OnFailure' | 'Never'>()),
  terminationGracePeriodSeconds: z.exactOptional(z.int()),
  activeDeadlineSeconds: z.exactOptional(z.int()),
  dnsPolicy: z.exactOptional(enumStringSchema<'ClusterFirst' | 'ClusterFirstWithHostNet' | 'Default' | 'None'>()),
  dnsConfig: z.exactOptional(dnsConfigSchema),
  serviceAccountName: z.exactOptional(z.string()),
  serviceAccount: z.exactOptional(z.string()),
  automountServiceAccountToken: z.exactOptional(z.boolean()),
  nodeName: z.exactOptional(z.string()),
  hostNetwork: z.exactOptional(z.boolean()),
  hostPID: z.exactOptional(z.boolean()),
  hostIPC: z.exactOptional(z.boolean()),
  hostUsers: z.exactOptional(z.boolean()),
  shareProcessNamespace: z.exactOptional(z.boolean()),
  securityContext: z.exactOptional(podSecurityContextSchema),
  imagePullSecrets: z.exactOptional(z.array(localObjectReferenceSchema)),
  hostname: z.exactOptional(z.string()),
  hostnameOverride: z.exactOptional(z.string()),
  subdomain: z.exactOptional(z.string()),
  setHostnameAsFQDN: z.exactOptional(z.boolean()),
  hostAliases: z.exactOptional(
    z.array(z.strictObject({ ip: z.string(), hostnames: z.exactOptional(z.array(z.string())) })),
  ),
  readinessGates: z.exactOptional(z.array(z.strictObject({ conditionType: z.string() }))),
  runtimeClassName: z.exactOptional(z.string()),
  enableServiceLinks: z.exactOptional(z.boolean()),
  overhead: z.exactOptional(resourceListSchema),
  os: z.exactOptional(z.strictObject({ name: enumStringSchema<'linux' | 'windows'>() })),
  resourceClaims: z.exactOptional(z.array(podResourceClaimSchema)),
  resources: z.exactOptional(resourceRequirementsSchema),
  ...schedulingFields,
});

export type PodSpec = z.infer<typeof podSpecSchema>;

/** Schema of a pod manifest. Namespace and UID are optional, and a status is ignored. */
export const podManifestSchema = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('Pod'),
  metadata: z.extend(manifestMetaSchema, { name: z.string() }),
  spec: podSpecSchema,
  status: z.exactOptional(z.unknown()),
});

export type PodManifest = z.infer<typeof podManifestSchema>;

/** Schema of a pod on the node. Name, namespace and UID are always set. The status is not parsed. */
export const podSchema = z.object({
  apiVersion: z.literal('v1'),
  kind: z.literal('Pod'),
  metadata: objectMetaSchema,
  spec: podSpecSchema,
});

export interface Pod extends z.infer<typeof podSchema> {
  status?: PodStatus;
}
