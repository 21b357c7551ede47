/**
 * Reads the ConfigMaps and Secrets that a container takes variables from, before it holds a start slot, and keeps them
 * until it is made: what is in them enters no actor, and is in no recording.
 */

import { NodeFailure } from '../../../base/failure.ts';
import { containerNamed } from '../../../kubernetes/api/containers.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import {
  allValues,
  objectKey,
  type ResolvedObjects,
  referencedObjects,
  valueOfKey,
} from '../../../kubernetes/environment/configValues.ts';
import { containerEnvironment } from '../../../kubernetes/environment/environment.ts';
import type { PodObjects } from '../../../kubernetes/objects/podObjects.ts';
import type { PortTypes } from '../../../machines/shared/ports.ts';

interface Asked {
  readonly pod: Pod;
  readonly container: string;
}

export interface ContainerObjects {
  /** Fails with `CreateContainerConfigError` where something is missing that has to be there. */
  read(asked: Asked, options: { readonly signal: AbortSignal }): Promise<PortTypes['readObjects']['output']>;
  /** What was read last for a container that is made now. */
  take(asked: Asked): ResolvedObjects;
  /** Nothing more of a pod is made. */
  forget(uid: string): void;
}

interface Parts {
  /** Absent: there are none. */
  readonly objects?: PodObjects | undefined;
  /** Takes note of what must not leave the agent. */
  readonly learnValues?: ((pod: Pod, values: readonly string[]) => void) | undefined;
}

export function containerObjects({ objects, learnValues = () => {} }: Parts): ContainerObjects {
  const kept = new Map<string, Map<string, ResolvedObjects>>();
  return {
    read: async ({ pod, container: name }, { signal }) => {
      const container = containerNamed(pod.spec, name)?.container;
      if (container === undefined)
        throw new NodeFailure('CreateContainerConfigError', `the pod has no container ${name}`);
      const { uid, namespace } = pod.metadata;
      const found = await readAll(referencedObjects(container), { pod, objects, signal });
      const values: string[] = [];
      const noted = (value: string | undefined) => {
        if (value !== undefined) values.push(value);
        return value;
      };
      // In the order in which a kubelet looks for them, which tells what it finds missing first.
      containerEnvironment(container, {
        source: (from) => (from.configMapKeyRef || from.secretKeyRef ? noted(valueOfKey(from, found, namespace)) : ''),
        all: (from) => {
          const all = allValues(from, found);
          values.push(...Object.values(all ?? {}));
          return all;
        },
      });
      learnValues(pod, values);
      kept.set(uid, (kept.get(uid) ?? new Map()).set(name, found));
      return null;
    },
    take: ({ pod, container }) => {
      const ofPod = kept.get(pod.metadata.uid);
      const found = ofPod?.get(container);
      ofPod?.delete(container);
      if (ofPod?.size === 0) kept.delete(pod.metadata.uid);
      return found ?? new Map();
    },
    forget: (uid) => void kept.delete(uid),
  };
}

async function readAll(
  named: ReturnType<typeof referencedObjects>,
  { pod, objects, signal }: Pick<Asked, 'pod'> & Pick<Parts, 'objects'> & { readonly signal: AbortSignal },
): Promise<ResolvedObjects> {
  if (objects === undefined) return new Map();
  const found = named.map(async (each) => {
    const object = await objects.get(pod, each.kind, each.name, { signal }).catch(asError);
    return [objectKey(each), object] as const;
  });
  const all = new Map(await Promise.all(found));
  signal.throwIfAborted();
  return all;
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
