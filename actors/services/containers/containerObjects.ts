/**
 * Reads the ConfigMaps and Secrets for a container's environment variables before the container acquires a start slot,
 * and caches them until the container is created. Their contents never enter an actor or a recording.
 */

import { NodeFailure } from '../../../base/failure.ts';
import { findContainerByName } from '../../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import {
  objectKey,
  type ResolvedObjects,
  readAllValues,
  readKeyValue,
  referencedObjects,
} from '../../../kubernetes/environment/configValues.ts';
import { containerEnvironment, expandedCommand } from '../../../kubernetes/environment/environment.ts';
import type { PodObjects } from '../../../kubernetes/objects/podObjects.ts';
import type { PortTypes } from '../../../machines/shared/ports.ts';

interface ContainerReference {
  readonly pod: Pod;
  readonly container: string;
}

export interface ContainerObjects {
  /**
   * Reads the objects and caches them. Fails with `CreateContainerConfigError` if a required object or key is missing.
   */
  readObjects(
    container: ContainerReference,
    options: { readonly signal: AbortSignal },
  ): Promise<PortTypes['readObjects']['output']>;
  /** Returns the objects that were last read for a container and removes them from the cache. */
  takeObjects(container: ContainerReference): ResolvedObjects;
  /** Removes a pod's objects from the cache, because no more of its containers will be created. */
  forget(uid: string): void;
}

interface ContainerObjectDependencies {
  /** Undefined if the node has no source of ConfigMaps and Secrets. */
  readonly objects?: PodObjects | undefined;
  /**
   * Called with the values that a pod's containers get from ConfigMaps and Secrets, so that the values are redacted.
   */
  readonly learnValues?: ((pod: Pod, values: readonly string[]) => void) | undefined;
}

export function createContainerObjects({
  objects,
  learnValues = () => {},
}: ContainerObjectDependencies): ContainerObjects {
  const cache = new Map<string, Map<string, ResolvedObjects>>();
  return {
    readObjects: async ({ pod, container: name }, { signal }) => {
      const container = findContainerByName(pod.spec, name)?.container;
      if (container === undefined)
        throw new NodeFailure('CreateContainerConfigError', `the pod has no container ${name}`);
      const { uid, namespace } = pod.metadata;
      const objectsByKey = await readReferences(referencedObjects(container), { pod, objects, signal });
      const values: string[] = [];
      const collectValue = (value: string | undefined) => {
        if (value !== undefined) values.push(value);
        return value;
      };
      // Resolve the references in the kubelet's order in order to report the same missing object first.
      const environment = containerEnvironment(container, {
        resolveValueSource: (from) =>
          from.configMapKeyRef || from.secretKeyRef ? collectValue(readKeyValue(from, objectsByKey, namespace)) : '',
        resolveAllValues: (from) => {
          const allValues = readAllValues(from, objectsByKey);
          values.push(...Object.values(allValues ?? {}));
          return allValues;
        },
      });
      // Check the size of the expanded command here as well as when the container is created, so that the error names
      // the field and no creation is attempted.
      expandedCommand(container, environment);
      learnValues(pod, values);
      cache.set(uid, (cache.get(uid) ?? new Map()).set(name, objectsByKey));
      return null;
    },
    takeObjects: ({ pod, container }) => {
      const podCache = cache.get(pod.metadata.uid);
      const objectsByKey = podCache?.get(container);
      podCache?.delete(container);
      if (podCache?.size === 0) cache.delete(pod.metadata.uid);
      return objectsByKey ?? new Map();
    },
    forget: (uid) => void cache.delete(uid),
  };
}

async function readReferences(
  references: ReturnType<typeof referencedObjects>,
  {
    pod,
    objects,
    signal,
  }: Pick<ContainerReference, 'pod'> & Pick<ContainerObjectDependencies, 'objects'> & { readonly signal: AbortSignal },
): Promise<ResolvedObjects> {
  if (objects === undefined) return new Map();
  const objectReads = references.map(async (each) => {
    const object = await objects.get(pod, each.kind, each.name, { signal }).catch(asError);
    return [objectKey(each), object] as const;
  });
  const resolved = new Map(await Promise.all(objectReads));
  signal.throwIfAborted();
  return resolved;
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
