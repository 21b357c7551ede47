import { lookUp } from '../../base/values/lookUp.ts';
import { isSidecar } from '../api/pods/containers.ts';
import type { Container, ResourceRequirements } from '../api/schema/container.ts';
import type { PodSpec } from '../api/schema/pod.ts';
import { nanosOf, nanosToUnit } from '../api/values/quantity.ts';
import type { ContainerSize } from './containerSize.ts';

export type AmountKind = 'requests' | 'limits';

/**
 * Returns an amount in millicores for CPU and in whole units, e.g. bytes, for other resources. Returns 0 if the amount
 * is missing.
 */
export function amountOf(resources: ResourceRequirements | undefined, kind: AmountKind, resource: string): number {
  return parseAmount(lookUp(resources?.[kind], resource), resource);
}

function parseAmount(text: string | undefined, resource: string): number {
  return text === undefined ? 0 : nanosToUnits(nanosOf(text), resource);
}

const nanosToUnits = (nanos: bigint, resource: string): number =>
  nanosToUnit(nanos, resource === 'cpu' ? 'milli' : 'whole');

/**
 * Returns a pod's effective request for a resource in the unit of `amountOf`. It is the pod-level request or, if there
 * is none, the aggregate of the containers, in each case plus the overhead.
 */
export function podRequest(spec: PodSpec, resource: string): number {
  const podAmount = lookUp(spec.resources?.requests, resource);
  const requestedAmount =
    podAmount === undefined ? aggregateAmount(spec, 'requests', resource) : parseAmount(podAmount, resource);
  return requestedAmount + parseAmount(lookUp(spec.overhead, resource), resource);
}

/**
 * Returns a pod's effective limit of a resource in the unit of `amountOf`. Undefined unless the pod or each of its
 * containers has a limit.
 */
export function podLimit(spec: PodSpec, resource: string): number | undefined {
  const podAmount = lookUp(spec.resources?.limits, resource);
  const overhead = parseAmount(lookUp(spec.overhead, resource), resource);
  if (podAmount !== undefined) return parseAmount(podAmount, resource) + overhead;
  const areAllLimited = [...(spec.initContainers ?? []), ...spec.containers].every(
    (container) => amountOf(container.resources, 'limits', resource) > 0,
  );
  return areAllLimited ? aggregateAmount(spec, 'limits', resource) + overhead : undefined;
}

/**
 * Returns the peak amount of a resource, i.e. the highest total of containers that run at the same time. An init
 * container runs alongside the sidecars that started before it, and the regular containers run alongside all sidecars.
 */
export function aggregateAmount(spec: PodSpec, kind: AmountKind, resource: string): number {
  return nanosToUnits(aggregateNanos(spec, kind, resource), resource);
}

/** Returns the containers' aggregate amount of a resource in billionths of its unit, without rounding. */
export function aggregateNanos(spec: PodSpec, kind: AmountKind, resource: string): bigint {
  const amountNanos = ({ resources }: Container) => nanosOf(lookUp(resources?.[kind], resource) ?? '0');
  let sidecarSum = 0n;
  let peakNanos = 0n;
  for (const init of spec.initContainers ?? []) {
    const initSum = sidecarSum + amountNanos(init);
    if (isSidecar(init)) sidecarSum = initSum;
    if (initSum > peakNanos) peakNanos = initSum;
  }
  const regularSum = spec.containers.reduce((sum, container) => sum + amountNanos(container), sidecarSum);
  return regularSum > peakNanos ? regularSum : peakNanos;
}

/**
 * Returns the resources that the spec specifies for a container. A container without a limit gets the pod's limit. A
 * missing CPU request defaults to the CPU limit.
 */
export function containerSize(
  spec: Partial<PodSpec>,
  { resources }: Pick<Container, 'resources'>,
): Required<ContainerSize> {
  const effectiveLimit = (resource: string) =>
    amountOf(resources, 'limits', resource) || amountOf(spec.resources, 'limits', resource);
  const cpuLimit = effectiveLimit('cpu');
  const cpuRequest = resources?.requests?.cpu === undefined ? cpuLimit : amountOf(resources, 'requests', 'cpu');
  const memoryRequest = amountOf(resources, 'requests', 'memory');
  return { cpuRequest, cpuLimit, memoryLimit: effectiveLimit('memory'), memoryRequest };
}
