import { defaultPullPolicy } from '../../images/pullPolicy.ts';
import type { ObjectFieldSelector } from '../schema/env.ts';
import type { Volume } from '../schema/volume.ts';

const FILE_MODE = 0o644;
const TOKEN_LIFETIME_SECONDS = 3600;

/**
 * Applies the defaults of a volume, such as file modes and types. A volume without a source becomes an empty directory.
 */
export function defaultVolume(volume: Volume): Volume {
  if (Object.keys(volume).length === 1) return { ...volume, emptyDir: {} };
  const { hostPath, secret, configMap, downwardAPI, projected, image, ephemeral } = volume;
  return {
    ...volume,
    ...(hostPath && { hostPath: { type: '', ...hostPath } }),
    ...(secret && { secret: { defaultMode: FILE_MODE, ...secret } }),
    ...(configMap && { configMap: { defaultMode: FILE_MODE, ...configMap } }),
    ...(downwardAPI && { downwardAPI: { defaultMode: FILE_MODE, ...defaultDownward(downwardAPI) } }),
    ...(projected && { projected: defaultProjected(projected) }),
    ...(image && {
      image: { ...image, pullPolicy: image.pullPolicy || defaultPullPolicy(image.reference ?? '') },
    }),
    ...(ephemeral?.volumeClaimTemplate && { ephemeral: defaultEphemeral(ephemeral.volumeClaimTemplate) }),
    ...networkStorageDefaults(volume),
  };
}

/** Applies the defaults of network volume sources. Covers only the sources whose drivers read the defaulted fields. */
function networkStorageDefaults({ iscsi, rbd, azureDisk, scaleIO }: Volume): Partial<Volume> {
  return {
    ...(iscsi && { iscsi: { ...iscsi, iscsiInterface: iscsi.iscsiInterface || 'default' } }),
    ...(rbd && {
      rbd: {
        ...rbd,
        pool: rbd.pool || 'rbd',
        user: rbd.user || 'admin',
        keyring: rbd.keyring || '/etc/ceph/keyring',
      },
    }),
    ...(azureDisk && {
      azureDisk: { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared', ...azureDisk },
    }),
    ...(scaleIO && {
      scaleIO: {
        ...scaleIO,
        storageMode: scaleIO.storageMode || 'ThinProvisioned',
        fsType: scaleIO.fsType || 'xfs',
      },
    }),
  };
}

function defaultEphemeral(
  template: NonNullable<NonNullable<Volume['ephemeral']>['volumeClaimTemplate']>,
): NonNullable<Volume['ephemeral']> {
  return { volumeClaimTemplate: { ...template, spec: { volumeMode: 'Filesystem', ...template.spec } } };
}

function defaultProjected(projected: NonNullable<Volume['projected']>): NonNullable<Volume['projected']> {
  const sources = (projected.sources ?? []).map((source) => {
    const { serviceAccountToken, downwardAPI } = source;
    return {
      ...source,
      ...(downwardAPI && { downwardAPI: defaultDownward(downwardAPI) }),
      ...(serviceAccountToken && {
        serviceAccountToken: { expirationSeconds: TOKEN_LIFETIME_SECONDS, ...serviceAccountToken },
      }),
    };
  });
  return { defaultMode: FILE_MODE, ...projected, sources };
}

function defaultDownward<T extends { items?: { fieldRef?: ObjectFieldSelector }[] }>(source: T): T {
  if (source.items === undefined) return source;
  const items = source.items.map((item) =>
    item.fieldRef ? { ...item, fieldRef: withApiVersion(item.fieldRef) } : item,
  );
  return { ...source, items };
}

/** Sets the API version of a field reference to the default `v1` if it is missing. */
export const withApiVersion = (fieldRef: ObjectFieldSelector): ObjectFieldSelector => ({
  ...fieldRef,
  apiVersion: fieldRef.apiVersion || 'v1',
});
