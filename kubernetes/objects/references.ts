/** Which ConfigMaps and Secrets a pod names. */
import { containersOf } from '../api/containers.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { ConfigKind } from './configObject.ts';

export interface PodReference {
  readonly kind: ConfigKind;
  readonly name: string;
  /** It is shown by a volume: what changes in it has to be seen there. */
  readonly isShown: boolean;
}

/** Each of them once, however often the pod names it; also those that need not be there. */
export function referencesOf({ spec }: Pick<Pod, 'spec'>): PodReference[] {
  const found = new Map<string, PodReference>();
  const add = (kind: ConfigKind, name: string | undefined, isShown: boolean) => {
    if (!name) return;
    const key = `${kind}/${name}`;
    found.set(key, { kind, name, isShown: isShown || (found.get(key)?.isShown ?? false) });
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
  return [...found.values()];
}
