import { orderedPodIps } from '../base/ipAddress.ts';
import type { Container, EnvVarSource } from '../kubernetes/api/schema/container.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import { allValues, type FoundObjects, oneValue } from '../kubernetes/environment/configValues.ts';
import { envFileValue } from '../kubernetes/environment/envFile.ts';
import { containerEnvironment, type EnvEntry } from '../kubernetes/environment/environment.ts';
import { fieldValue, resourceValue } from '../kubernetes/environment/fieldRef.ts';
import { allocatableOf, type NodeDescription } from './nodeDescription.ts';

interface EnvironmentInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly sandboxIps: readonly string[];
  readonly node: NodeDescription;
  /** The files of volumes that variables are taken from, by `<volume>/<path>`; what is not there is left out. */
  readonly envFiles?: ReadonlyMap<string, string>;
  /** The ConfigMaps and Secrets that variables are taken from; absent: there are none. */
  readonly objects?: FoundObjects;
  /** The variables that tell of services; absent: none do. */
  readonly services?: Readonly<Record<string, string>>;
}

/** The files of volumes that a container takes variables from. */
export function envFilesOf({ env = [] }: Container): { readonly volume: string; readonly path: string }[] {
  return env.flatMap(({ valueFrom }) => {
    const { fileKeyRef } = valueFrom ?? {};
    return fileKeyRef ? [{ volume: fileKeyRef.volumeName, path: fileKeyRef.path }] : [];
  });
}

/** A container's variables with the pod's own fields in them (C21); a pod on the host's network has its addresses. */
export function environmentOf({
  pod,
  container,
  sandboxIps,
  node,
  envFiles,
  objects = new Map(),
  services = {},
}: EnvironmentInput): EnvEntry[] {
  const { hostIps } = node;
  const addresses = {
    hostIps: hostIps.slice(0, 2),
    podIps: pod.spec.hostNetwork ? hostIps : orderedPodIps(sandboxIps, hostIps),
  };
  const allocatable = allocatableOf(node);
  const source = (from: EnvVarSource) => {
    const { fieldRef, resourceFieldRef, fileKeyRef } = from;
    if (fieldRef) return fieldValue(pod, fieldRef.fieldPath, addresses);
    if (fileKeyRef) {
      const text = envFiles?.get(`${fileKeyRef.volumeName}/${fileKeyRef.path}`);
      return text === undefined ? undefined : envFileValue(text, fileKeyRef);
    }
    if (from.configMapKeyRef ?? from.secretKeyRef) return oneValue(from, objects, pod.metadata.namespace);
    return resourceFieldRef && resourceValue(pod, resourceFieldRef, { self: container, allocatable });
  };
  return containerEnvironment(container, { source, all: (from) => allValues(from, objects), services });
}
