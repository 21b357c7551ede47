import { lookUp } from '../../base/lookUp.ts';
import { isSidecar } from '../api/containers.ts';
import { nanosOf, roundedUp } from '../api/quantity.ts';
import type { Container, ResourceRequirements } from '../api/schema/container.ts';
import type { PodSpec } from '../api/schema/pod.ts';
import type { ContainerSize } from './containerSize.ts';

export type Kind = 'requests' | 'limits';

/** One amount as a number: millicores for cpu, whole units (bytes) for the rest; 0 where nothing is said. */
export function amountOf(resources: ResourceRequirements | undefined, kind: Kind, resource: string): number {
  return inUnits(lookUp(resources?.[kind], resource), resource);
}

function inUnits(text: string | undefined, resource: string): number {
  return text === undefined ? 0 : unitsOf(nanosOf(text), resource);
}

const unitsOf = (nanos: bigint, resource: string): number => roundedUp(nanos, resource === 'cpu' ? 'milli' : 'whole');

/** What a pod asks for of a resource, in the unit of `amountOf`: its own figure or the containers', plus the overhead. */
export function podRequest(spec: PodSpec, resource: string): number {
  const own = lookUp(spec.resources?.requests, resource);
  const asked = own === undefined ? aggregate(spec, 'requests', resource) : inUnits(own, resource);
  return asked + inUnits(lookUp(spec.overhead, resource), resource);
}

/** What a pod may use of a resource, in the unit of `amountOf`; undefined where some container of it is unlimited. */
export function podLimit(spec: PodSpec, resource: string): number | undefined {
  const own = lookUp(spec.resources?.limits, resource);
  const overhead = inUnits(lookUp(spec.overhead, resource), resource);
  if (own !== undefined) return inUnits(own, resource) + overhead;
  const limited = [...(spec.initContainers ?? []), ...spec.containers].every(
    (container) => amountOf(container.resources, 'limits', resource) > 0,
  );
  return limited ? aggregate(spec, 'limits', resource) + overhead : undefined;
}

/** The containers' amounts together: an init container runs alone but for the sidecars that started before it. */
export function aggregate(spec: PodSpec, kind: Kind, resource: string): number {
  return unitsOf(aggregateNanos(spec, kind, resource), resource);
}

/** The same exactly, in nanos of the resource's unit. */
export function aggregateNanos(spec: PodSpec, kind: Kind, resource: string): bigint {
  const amount = ({ resources }: Container) => nanosOf(lookUp(resources?.[kind], resource) ?? '0');
  let sidecars = 0n;
  let peak = 0n;
  for (const init of spec.initContainers ?? []) {
    const alone = sidecars + amount(init);
    if (isSidecar(init)) sidecars = alone;
    if (alone > peak) peak = alone;
  }
  const together = spec.containers.reduce((sum, container) => sum + amount(container), sidecars);
  return together > peak ? together : peak;
}

/**
 * Returns the size that the spec requests for a container. A container without a limit has the pod's limit, and one with a
 * CPU limit alone requests all of it.
 */
export function containerSize(spec: PodSpec, { resources }: Container): Required<ContainerSize> {
  const limit = (resource: string) =>
    amountOf(resources, 'limits', resource) || amountOf(spec.resources, 'limits', resource);
  const cpuLimit = limit('cpu');
  const cpuRequest = resources?.requests?.cpu === undefined ? cpuLimit : amountOf(resources, 'requests', 'cpu');
  const memoryRequest = amountOf(resources, 'requests', 'memory');
  return { cpuRequest, cpuLimit, memoryLimit: limit('memory'), memoryRequest };
}
