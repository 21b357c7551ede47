import * as z from 'zod/mini';
import { enumStringSchema, localObjectReferenceSchema, textMapSchema } from './scalars.ts';

const optionalTextSchema = z.exactOptional(z.string());
const optionalFlagSchema = z.exactOptional(z.boolean());
const optionalInt32Schema = z.exactOptional(z.int32());
const secretRefSchema = z.exactOptional(localObjectReferenceSchema);

/** Volume sources whose data is stored on the network or on a block device of the node. */
export const networkVolumeSources = {
  gcePersistentDisk: z.exactOptional(
    z.strictObject({
      pdName: z.string(),
      fsType: optionalTextSchema,
      partition: optionalInt32Schema,
      readOnly: optionalFlagSchema,
    }),
  ),
  awsElasticBlockStore: z.exactOptional(
    z.strictObject({
      volumeID: z.string(),
      fsType: optionalTextSchema,
      partition: optionalInt32Schema,
      readOnly: optionalFlagSchema,
    }),
  ),
  nfs: z.exactOptional(z.strictObject({ server: z.string(), path: z.string(), readOnly: optionalFlagSchema })),
  iscsi: z.exactOptional(
    z.strictObject({
      targetPortal: z.string(),
      iqn: z.string(),
      lun: z.int32(),
      iscsiInterface: optionalTextSchema,
      fsType: optionalTextSchema,
      readOnly: optionalFlagSchema,
      portals: z.exactOptional(z.array(z.string())),
      chapAuthDiscovery: optionalFlagSchema,
      chapAuthSession: optionalFlagSchema,
      secretRef: secretRefSchema,
      initiatorName: optionalTextSchema,
    }),
  ),
  glusterfs: z.exactOptional(z.strictObject({ endpoints: z.string(), path: z.string(), readOnly: optionalFlagSchema })),
  rbd: z.exactOptional(
    z.strictObject({
      monitors: z.array(z.string()),
      image: z.string(),
      fsType: optionalTextSchema,
      pool: optionalTextSchema,
      user: optionalTextSchema,
      keyring: optionalTextSchema,
      secretRef: secretRefSchema,
      readOnly: optionalFlagSchema,
    }),
  ),
  flexVolume: z.exactOptional(
    z.strictObject({
      driver: z.string(),
      fsType: optionalTextSchema,
      secretRef: secretRefSchema,
      readOnly: optionalFlagSchema,
      options: z.exactOptional(textMapSchema),
    }),
  ),
  cinder: z.exactOptional(
    z.strictObject({
      volumeID: z.string(),
      fsType: optionalTextSchema,
      readOnly: optionalFlagSchema,
      secretRef: secretRefSchema,
    }),
  ),
  cephfs: z.exactOptional(
    z.strictObject({
      monitors: z.array(z.string()),
      path: optionalTextSchema,
      user: optionalTextSchema,
      secretFile: optionalTextSchema,
      secretRef: secretRefSchema,
      readOnly: optionalFlagSchema,
    }),
  ),
  flocker: z.exactOptional(z.strictObject({ datasetName: optionalTextSchema, datasetUUID: optionalTextSchema })),
  fc: z.exactOptional(
    z.strictObject({
      targetWWNs: z.exactOptional(z.array(z.string())),
      lun: optionalInt32Schema,
      fsType: optionalTextSchema,
      readOnly: optionalFlagSchema,
      wwids: z.exactOptional(z.array(z.string())),
    }),
  ),
  azureFile: z.exactOptional(
    z.strictObject({ secretName: z.string(), shareName: z.string(), readOnly: optionalFlagSchema }),
  ),
  vsphereVolume: z.exactOptional(
    z.strictObject({
      volumePath: z.string(),
      fsType: optionalTextSchema,
      storagePolicyName: optionalTextSchema,
      storagePolicyID: optionalTextSchema,
    }),
  ),
  quobyte: z.exactOptional(
    z.strictObject({
      registry: z.string(),
      volume: z.string(),
      readOnly: optionalFlagSchema,
      user: optionalTextSchema,
      group: optionalTextSchema,
      tenant: optionalTextSchema,
    }),
  ),
  azureDisk: z.exactOptional(
    z.strictObject({
      diskName: z.string(),
      diskURI: z.string(),
      cachingMode: z.exactOptional(enumStringSchema<'None' | 'ReadOnly' | 'ReadWrite'>()),
      fsType: optionalTextSchema,
      readOnly: optionalFlagSchema,
      kind: z.exactOptional(enumStringSchema<'Shared' | 'Dedicated' | 'Managed'>()),
    }),
  ),
  photonPersistentDisk: z.exactOptional(z.strictObject({ pdID: z.string(), fsType: optionalTextSchema })),
  portworxVolume: z.exactOptional(
    z.strictObject({ volumeID: z.string(), fsType: optionalTextSchema, readOnly: optionalFlagSchema }),
  ),
  scaleIO: z.exactOptional(
    z.strictObject({
      gateway: z.string(),
      system: z.string(),
      secretRef: secretRefSchema,
      sslEnabled: optionalFlagSchema,
      protectionDomain: optionalTextSchema,
      storagePool: optionalTextSchema,
      storageMode: optionalTextSchema,
      volumeName: optionalTextSchema,
      fsType: optionalTextSchema,
      readOnly: optionalFlagSchema,
    }),
  ),
  storageos: z.exactOptional(
    z.strictObject({
      volumeName: optionalTextSchema,
      volumeNamespace: optionalTextSchema,
      fsType: optionalTextSchema,
      readOnly: optionalFlagSchema,
      secretRef: secretRefSchema,
    }),
  ),
  csi: z.exactOptional(
    z.strictObject({
      driver: z.string(),
      readOnly: optionalFlagSchema,
      fsType: optionalTextSchema,
      volumeAttributes: z.exactOptional(textMapSchema),
      nodePublishSecretRef: z.exactOptional(localObjectReferenceSchema),
    }),
  ),
};
