import { orderedPodIps } from '../../base/ipAddress.ts';
import type { Container, EnvVarSource } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { type ResolvedObjects, readAllValues, readKeyValue } from '../../kubernetes/environment/configValues.ts';
import { envFileValue } from '../../kubernetes/environment/envFile.ts';
import { containerEnvironment, type EnvVariable } from '../../kubernetes/environment/environment.ts';
import { fieldValue, resourceValue } from '../../kubernetes/environment/fieldRef.ts';
import { type NodeDescription, toAllocatableResources } from '../nodeDescription.ts';

export interface EnvironmentInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly sandboxIps: readonly string[];
  readonly node: NodeDescription;
  /** Contents of environment files in volumes, by `<volume>/<path>`. Missing files are absent from the map. */
  readonly envFiles?: ReadonlyMap<string, string>;
  /** ConfigMaps and Secrets that the environment variables refer to. Defaults to none. */
  readonly objects?: ResolvedObjects;
  /** Environment variables for services. Defaults to none. */
  readonly services?: Readonly<Record<string, string>>;
}

/** Returns the files in volumes from which a container takes environment variables. */
export function listEnvFiles({ env = [] }: Container): { readonly volume: string; readonly path: string }[] {
  return env.flatMap(({ valueFrom }) => {
    const { fileKeyRef } = valueFrom ?? {};
    return fileKeyRef ? [{ volume: fileKeyRef.volumeName, path: fileKeyRef.path }] : [];
  });
}

/** Returns the environment of a container (C21). On the host network, the pod's IPs are the node's. */
export function buildEnvironment({
  pod,
  container,
  sandboxIps,
  node,
  envFiles,
  objects = new Map(),
  services = {},
}: EnvironmentInput): EnvVariable[] {
  const { hostIps } = node;
  const addresses = {
    hostIps: hostIps.slice(0, 2),
    podIps: pod.spec.hostNetwork ? hostIps : orderedPodIps(sandboxIps, hostIps),
  };
  const allocatableResources = toAllocatableResources(node);
  const resolveSource = (from: EnvVarSource) => {
    const { fieldRef, resourceFieldRef, fileKeyRef } = from;
    if (fieldRef) return fieldValue(pod, fieldRef.fieldPath, addresses);
    if (fileKeyRef) {
      const fileContents = envFiles?.get(`${fileKeyRef.volumeName}/${fileKeyRef.path}`);
      return fileContents === undefined ? undefined : envFileValue(fileContents, fileKeyRef);
    }
    if (from.configMapKeyRef ?? from.secretKeyRef) return readKeyValue(from, objects, pod.metadata.namespace);
    return (
      resourceFieldRef && resourceValue(pod, resourceFieldRef, { self: container, allocatable: allocatableResources })
    );
  };
  return containerEnvironment(container, {
    resolveValueSource: resolveSource,
    resolveAllValues: (from) => readAllValues(from, objects),
    services,
  });
}
