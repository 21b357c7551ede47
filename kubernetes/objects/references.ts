/** Lists the ConfigMaps and Secrets that a pod references. */
import { containersOf } from '../api/pods/containers.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { ConfigKind } from './configObject.ts';

export interface PodObjectReference {
  readonly kind: ConfigKind;
  readonly name: string;
  /** Whether a volume uses the object, in which case a change to the object must update the volume. */
  readonly isInVolume: boolean;
}

/** Returns the references of a pod without duplicates, including optional ones. */
export function referencesOf({ spec }: Pick<Pod, 'spec'>): PodObjectReference[] {
  const references = new Map<string, PodObjectReference>();
  const add = (kind: ConfigKind, name: string | undefined, isInVolume: boolean) => {
    if (!name) return;
    const key = `${kind}/${name}`;
    references.set(key, { kind, name, isInVolume: isInVolume || (references.get(key)?.isInVolume ?? false) });
  };
  for (const { container } of containersOf(spec)) {
    for (const { configMapRef, secretRef } of container.envFrom ?? []) {
      add('ConfigMap', configMapRef?.name, false);
      add('Secret', secretRef?.name, false);
    }
    for (const { valueFrom } of container.env ?? []) {
      add('ConfigMap', valueFrom?.configMapKeyRef?.name, false);
      add('Secret', valueFrom?.secretKeyRef?.name, false);
    }
  }
  for (const { configMap, secret, projected } of spec.volumes ?? []) {
    add('ConfigMap', configMap?.name, true);
    add('Secret', secret?.secretName, true);
    for (const source of projected?.sources ?? []) {
      add('ConfigMap', source.configMap?.name, true);
      add('Secret', source.secret?.name, true);
    }
  }
  for (const { name } of spec.imagePullSecrets ?? []) add('Secret', name, false);
  return [...references.values()];
}
