import * as z from 'zod/mini';
import { localObjectReferenceSchema, textMapSchema, wordSchema } from './scalars.ts';

const text = z.exactOptional(z.string());
const flag = z.exactOptional(z.boolean());
const number = z.exactOptional(z.int32());
const secretRef = z.exactOptional(localObjectReferenceSchema);

/** The volume sources whose data lives off the node or on a device of it. */
export const networkVolumeSources = {
  gcePersistentDisk: z.exactOptional(
    z.strictObject({ pdName: z.string(), fsType: text, partition: number, readOnly: flag }),
  ),
  awsElasticBlockStore: z.exactOptional(
    z.strictObject({ volumeID: z.string(), fsType: text, partition: number, readOnly: flag }),
  ),
  nfs: z.exactOptional(z.strictObject({ server: z.string(), path: z.string(), readOnly: flag })),
  iscsi: z.exactOptional(
    z.strictObject({
      targetPortal: z.string(),
      iqn: z.string(),
      lun: z.int32(),
      iscsiInterface: text,
      fsType: text,
      readOnly: flag,
      portals: z.exactOptional(z.array(z.string())),
      chapAuthDiscovery: flag,
      chapAuthSession: flag,
      secretRef,
      initiatorName: text,
    }),
  ),
  glusterfs: z.exactOptional(z.strictObject({ endpoints: z.string(), path: z.string(), readOnly: flag })),
  rbd: z.exactOptional(
    z.strictObject({
      monitors: z.array(z.string()),
      image: z.string(),
      fsType: text,
      pool: text,
      user: text,
      keyring: text,
      secretRef,
      readOnly: flag,
    }),
  ),
  flexVolume: z.exactOptional(
    z.strictObject({
      driver: z.string(),
      fsType: text,
      secretRef,
      readOnly: flag,
      options: z.exactOptional(textMapSchema),
    }),
  ),
  cinder: z.exactOptional(z.strictObject({ volumeID: z.string(), fsType: text, readOnly: flag, secretRef })),
  cephfs: z.exactOptional(
    z.strictObject({
      monitors: z.array(z.string()),
      path: text,
      user: text,
      secretFile: text,
      secretRef,
      readOnly: flag,
    }),
  ),
  flocker: z.exactOptional(z.strictObject({ datasetName: text, datasetUUID: text })),
  fc: z.exactOptional(
    z.strictObject({
      targetWWNs: z.exactOptional(z.array(z.string())),
      lun: number,
      fsType: text,
      readOnly: flag,
      wwids: z.exactOptional(z.array(z.string())),
    }),
  ),
  azureFile: z.exactOptional(z.strictObject({ secretName: z.string(), shareName: z.string(), readOnly: flag })),
  vsphereVolume: z.exactOptional(
    z.strictObject({ volumePath: z.string(), fsType: text, storagePolicyName: text, storagePolicyID: text }),
  ),
  quobyte: z.exactOptional(
    z.strictObject({ registry: z.string(), volume: z.string(), readOnly: flag, user: text, group: text, tenant: text }),
  ),
  azureDisk: z.exactOptional(
    z.strictObject({
      diskName: z.string(),
      diskURI: z.string(),
      cachingMode: z.exactOptional(wordSchema<'None' | 'ReadOnly' | 'ReadWrite'>()),
      fsType: text,
      readOnly: flag,
      kind: z.exactOptional(wordSchema<'Shared' | 'Dedicated' | 'Managed'>()),
    }),
  ),
  photonPersistentDisk: z.exactOptional(z.strictObject({ pdID: z.string(), fsType: text })),
  portworxVolume: z.exactOptional(z.strictObject({ volumeID: z.string(), fsType: text, readOnly: flag })),
  scaleIO: z.exactOptional(
    z.strictObject({
      gateway: z.string(),
      system: z.string(),
      secretRef: localObjectReferenceSchema,
      sslEnabled: flag,
      protectionDomain: text,
      storagePool: text,
      storageMode: text,
      volumeName: text,
      fsType: text,
      readOnly: flag,
    }),
  ),
  storageos: z.exactOptional(
    z.strictObject({ volumeName: text, volumeNamespace: text, fsType: text, readOnly: flag, secretRef }),
  ),
  csi: z.exactOptional(
    z.strictObject({
      driver: z.string(),
      readOnly: flag,
      fsType: text,
      volumeAttributes: z.exactOptional(textMapSchema),
      nodePublishSecretRef: z.exactOptional(localObjectReferenceSchema),
    }),
  ),
};
