import { containerEnvironment, type EnvEntry } from '../pod/environment.ts';
import { fieldValue, resourceValue } from '../pod/fieldRef.ts';
import type { Container, EnvVarSource } from '../pod/schema/container.ts';
import type { Pod } from '../pod/schema/pod.ts';
import { allocatableOf, type NodeFacts } from './nodeFacts.ts';

/** A container's variables with the pod's own fields in them (C21); a pod on the host's network has its addresses. */
export function environmentOf(
  pod: Pod,
  container: Container,
  sandboxIps: readonly string[],
  node: NodeFacts,
): EnvEntry[] {
  const { hostIps } = node;
  const addresses = { hostIps: hostIps.slice(0, 2), podIps: pod.spec.hostNetwork ? hostIps : sandboxIps };
  const allocatable = allocatableOf(node);
  const source = ({ fieldRef, resourceFieldRef }: EnvVarSource) => {
    if (fieldRef) return fieldValue(pod, fieldRef.fieldPath, addresses);
    return resourceFieldRef && resourceValue(pod, resourceFieldRef, { self: container, allocatable });
  };
  return containerEnvironment(container, { source, all: () => undefined });
}
