import * as z from 'zod/mini';
import { localObjectReferenceSchema, textMapSchema, wordSchema } from './scalars.ts';

const optionalText = z.exactOptional(z.string());
const optionalFlag = z.exactOptional(z.boolean());
const optionalInt32 = z.exactOptional(z.int32());
const secretRefSchema = z.exactOptional(localObjectReferenceSchema);

/** Volume sources whose data is stored on the network or on a block device of the node. */
export const networkVolumeSources = {
  gcePersistentDisk: z.exactOptional(
    z.strictObject({ pdName: z.string(), fsType: optionalText, partition: optionalInt32, readOnly: optionalFlag }),
  ),
  awsElasticBlockStore: z.exactOptional(
    z.strictObject({ volumeID: z.string(), fsType: optionalText, partition: optionalInt32, readOnly: optionalFlag }),
  ),
  nfs: z.exactOptional(z.strictObject({ server: z.string(), path: z.string(), readOnly: optionalFlag })),
  iscsi: z.exactOptional(
    z.strictObject({
      targetPortal: z.string(),
      iqn: z.string(),
      lun: z.int32(),
      iscsiInterface: optionalText,
      fsType: optionalText,
      readOnly: optionalFlag,
      portals: z.exactOptional(z.array(z.string())),
      chapAuthDiscovery: optionalFlag,
      chapAuthSession: optionalFlag,
      secretRef: secretRefSchema,
      initiatorName: optionalText,
    }),
  ),
  glusterfs: z.exactOptional(z.strictObject({ endpoints: z.string(), path: z.string(), readOnly: optionalFlag })),
  rbd: z.exactOptional(
    z.strictObject({
      monitors: z.array(z.string()),
      image: z.string(),
      fsType: optionalText,
      pool: optionalText,
      user: optionalText,
      keyring: optionalText,
      secretRef: secretRefSchema,
      readOnly: optionalFlag,
    }),
  ),
  flexVolume: z.exactOptional(
    z.strictObject({
      driver: z.string(),
      fsType: optionalText,
      secretRef: secretRefSchema,
      readOnly: optionalFlag,
      options: z.exactOptional(textMapSchema),
    }),
  ),
  cinder: z.exactOptional(
    z.strictObject({ volumeID: z.string(), fsType: optionalText, readOnly: optionalFlag, secretRef: secretRefSchema }),
  ),
  cephfs: z.exactOptional(
    z.strictObject({
      monitors: z.array(z.string()),
      path: optionalText,
      user: optionalText,
      secretFile: optionalText,
      secretRef: secretRefSchema,
      readOnly: optionalFlag,
    }),
  ),
  flocker: z.exactOptional(z.strictObject({ datasetName: optionalText, datasetUUID: optionalText })),
  fc: z.exactOptional(
    z.strictObject({
      targetWWNs: z.exactOptional(z.array(z.string())),
      lun: optionalInt32,
      fsType: optionalText,
      readOnly: optionalFlag,
      wwids: z.exactOptional(z.array(z.string())),
    }),
  ),
  azureFile: z.exactOptional(z.strictObject({ secretName: z.string(), shareName: z.string(), readOnly: optionalFlag })),
  vsphereVolume: z.exactOptional(
    z.strictObject({
      volumePath: z.string(),
      fsType: optionalText,
      storagePolicyName: optionalText,
      storagePolicyID: optionalText,
    }),
  ),
  quobyte: z.exactOptional(
    z.strictObject({
      registry: z.string(),
      volume: z.string(),
      readOnly: optionalFlag,
      user: optionalText,
      group: optionalText,
      tenant: optionalText,
    }),
  ),
  azureDisk: z.exactOptional(
    z.strictObject({
      diskName: z.string(),
      diskURI: z.string(),
      cachingMode: z.exactOptional(wordSchema<'None' | 'ReadOnly' | 'ReadWrite'>()),
      fsType: optionalText,
      readOnly: optionalFlag,
      kind: z.exactOptional(wordSchema<'Shared' | 'Dedicated' | 'Managed'>()),
    }),
  ),
  photonPersistentDisk: z.exactOptional(z.strictObject({ pdID: z.string(), fsType: optionalText })),
  portworxVolume: z.exactOptional(
    z.strictObject({ volumeID: z.string(), fsType: optionalText, readOnly: optionalFlag }),
  ),
  scaleIO: z.exactOptional(
    z.strictObject({
      gateway: z.string(),
      system: z.string(),
      secretRef: localObjectReferenceSchema,
      sslEnabled: optionalFlag,
      protectionDomain: optionalText,
      storagePool: optionalText,
      storageMode: optionalText,
      volumeName: optionalText,
      fsType: optionalText,
      readOnly: optionalFlag,
    }),
  ),
  storageos: z.exactOptional(
    z.strictObject({
      volumeName: optionalText,
      volumeNamespace: optionalText,
      fsType: optionalText,
      readOnly: optionalFlag,
      secretRef: secretRefSchema,
    }),
  ),
  csi: z.exactOptional(
    z.strictObject({
      driver: z.string(),
      readOnly: optionalFlag,
      fsType: optionalText,
      volumeAttributes: z.exactOptional(textMapSchema),
      nodePublishSecretRef: z.exactOptional(localObjectReferenceSchema),
    }),
  ),
};
