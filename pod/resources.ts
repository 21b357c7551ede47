import type { ContainerSize } from './containerSize.ts';
import { isSidecar } from './containers.ts';
import { milliValue, wholeValue } from './quantity.ts';
import type { Container, ResourceRequirements } from './schema/container.ts';
import type { PodSpec } from './schema/pod.ts';

type Kind = 'requests' | 'limits';

/** One amount as a number: millicores for cpu, whole units (bytes) for the rest; 0 where nothing is said. */
export function amountOf(resources: ResourceRequirements | undefined, kind: Kind, resource: string): number {
  return inUnits(resources?.[kind]?.[resource], resource);
}

function inUnits(text: string | undefined, resource: string): number {
  if (text === undefined) return 0;
  return resource === 'cpu' ? milliValue(text) : wholeValue(text);
}

/** What a pod asks for of a resource, in the unit of `amountOf`: its own figure or the containers', plus the overhead. */
export function podRequest(spec: PodSpec, resource: string): number {
  const own = spec.resources?.requests?.[resource];
  const asked = own === undefined ? aggregate(spec, 'requests', resource) : inUnits(own, resource);
  return asked + inUnits(spec.overhead?.[resource], resource);
}

/** What a pod may use of a resource, in the unit of `amountOf`; undefined where some container of it is unlimited. */
export function podLimit(spec: PodSpec, resource: string): number | undefined {
  const own = spec.resources?.limits?.[resource];
  const overhead = inUnits(spec.overhead?.[resource], resource);
  if (own !== undefined) return inUnits(own, resource) + overhead;
  const limited = [...(spec.initContainers ?? []), ...spec.containers].every(
    (container) => amountOf(container.resources, 'limits', resource) > 0,
  );
  return limited ? aggregate(spec, 'limits', resource) + overhead : undefined;
}

/** The containers' amounts together: an init container runs alone but for the sidecars that started before it. */
export function aggregate(spec: PodSpec, kind: Kind, resource: string): number {
  const amount = (container: Container) => amountOf(container.resources, kind, resource);
  let sidecars = 0;
  let peak = 0;
  for (const init of spec.initContainers ?? []) {
    if (isSidecar(init)) sidecars += amount(init);
    peak = Math.max(peak, isSidecar(init) ? sidecars : sidecars + amount(init));
  }
  return Math.max(peak, sidecars + spec.containers.reduce((sum, container) => sum + amount(container), 0));
}

/** The size of a container: a limit alone asks for all of it, and the pod's limits are those of a container without. */
export function containerSize(spec: PodSpec, { resources }: Container): ContainerSize {
  const limit = (resource: string) =>
    amountOf(resources, 'limits', resource) || amountOf(spec.resources, 'limits', resource);
  const cpuLimit = limit('cpu');
  const cpuRequest = resources?.requests?.cpu === undefined ? cpuLimit : amountOf(resources, 'requests', 'cpu');
  return { cpuRequest, cpuLimit, memoryLimit: limit('memory') };
}
