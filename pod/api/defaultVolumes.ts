import { defaultPullPolicy } from '../images/pullPolicy.ts';
import type { ObjectFieldSelector } from './schema/env.ts';
import type { Volume } from './schema/volume.ts';

const FILE_MODE = 0o644;
const TOKEN_LIFE_SECONDS = 3600;

/** Fills in what the API server would for a volume: an empty directory where there is no source, modes, types. */
export function defaultVolume(volume: Volume): Volume {
  if (Object.keys(volume).length === 1) return { ...volume, emptyDir: {} };
  const { hostPath, secret, configMap, downwardAPI, projected, image, iscsi } = volume;
  return {
    ...volume,
    ...(hostPath && { hostPath: { type: '', ...hostPath } }),
    ...(secret && { secret: { defaultMode: FILE_MODE, ...secret } }),
    ...(configMap && { configMap: { defaultMode: FILE_MODE, ...configMap } }),
    ...(downwardAPI && { downwardAPI: { defaultMode: FILE_MODE, ...defaultDownward(downwardAPI) } }),
    ...(projected && { projected: defaultProjected(projected) }),
    ...(image && { image: { pullPolicy: defaultPullPolicy(image.reference ?? ''), ...image } }),
    ...(iscsi && { iscsi: { iscsiInterface: 'default', ...iscsi } }),
  };
}

function defaultProjected(projected: NonNullable<Volume['projected']>): NonNullable<Volume['projected']> {
  const sources = (projected.sources ?? []).map((source) => {
    const { serviceAccountToken, downwardAPI } = source;
    return {
      ...source,
      ...(downwardAPI && { downwardAPI: defaultDownward(downwardAPI) }),
      ...(serviceAccountToken && {
        serviceAccountToken: { expirationSeconds: TOKEN_LIFE_SECONDS, ...serviceAccountToken },
      }),
    };
  });
  return { defaultMode: FILE_MODE, ...projected, sources };
}

function defaultDownward<T extends { items?: { fieldRef?: ObjectFieldSelector }[] }>(source: T): T {
  if (source.items === undefined) return source;
  const items = source.items.map((item) =>
    item.fieldRef ? { ...item, fieldRef: { apiVersion: 'v1', ...item.fieldRef } } : item,
  );
  return { ...source, items };
}
