/** The pod's own resources beside those of its containers, and how containers are resized. */

import { lookUp } from '../../lookUp.ts';
import { aggregate, amountOf } from '../../resources/resources.ts';
import { containersOf } from '../containers.ts';
import { type Problem, shownValue } from '../problem.ts';
import { formatQuantity, parseQuantity } from '../quantity.ts';
import type { PodSpec } from '../schema/pod.ts';
import { validateResources } from './resources.ts';
import { forbidden, invalid, required } from './words.ts';

const isSupported = (resource: string): boolean => /^(cpu|memory|hugepages-.+)$/.test(resource);
const notSupported = (path: string, value: string, supported: readonly string[]): Problem => ({
  path,
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((each) => `"${each}"`).join(', ')}`,
});

/** A pod's own requests cover those of its containers, and no container may use more than the pod. */
export function validatePodResources(spec: PodSpec): Problem[] {
  const { resources } = spec;
  if (resources === undefined) return [];
  const { requests = {}, limits = {}, claims } = resources;
  const named = Object.entries({ limits, requests }).flatMap(([kind, list]) =>
    Object.keys(list).map((resource) => ({ path: `spec.resources.${kind}[${resource}]`, resource })),
  );
  return [
    ...(claims ? [forbidden('spec.resources.claims', 'claims may not be set for Resources at pod-level')] : []),
    ...named.flatMap(({ path, resource }) =>
      isSupported(resource) ? [] : [notSupported(path, resource, ['cpu', 'hugepages-', 'memory'])],
    ),
    ...validateResources(resources, 'spec.resources'),
    ...Object.keys(requests)
      .filter(isSupported)
      .flatMap((resource) => requestBelowSum(spec, resource)),
    ...Object.keys(limits)
      .filter(isSupported)
      .flatMap((resource) => limitsAbove(spec, resource)),
  ];
}

function requestBelowSum(spec: PodSpec, resource: string): Problem[] {
  const sum = aggregate(spec, 'requests', resource);
  if (sum <= amountOf(spec.resources, 'requests', resource)) return [];
  const asked = resource === 'cpu' ? BigInt(sum) * 1_000_000n : BigInt(sum) * 1_000_000_000n;
  const detail = `must be greater than or equal to aggregate container requests of ${formatQuantity(asked, resource === 'cpu' ? 'decimal' : 'binary')}`;
  return [invalid(`spec.resources.requests[${resource}]`, lookUp(spec.resources?.requests, resource), detail)];
}

function limitsAbove(spec: PodSpec, resource: string): Problem[] {
  const limit = lookUp(spec.resources?.limits, resource) ?? '';
  return containersOf(spec).flatMap(({ container, field, index }) => {
    const own = lookUp(container.resources?.limits, resource);
    if (own === undefined || (parseQuantity(own) ?? 0n) <= (parseQuantity(limit) ?? 0n)) return [];
    const path = `spec.${field}[${index}].resources.limits[${resource}]`;
    return [invalid(path, own, `must be less than or equal to pod limits of ${limit}`)];
  });
}

/** A container uses only claims of its pod (`validateResourceClaimNames` in `pkg/apis/core/validation/validation.go`). */
export function validateClaims(spec: PodSpec): Problem[] {
  const known = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  return containersOf(spec).flatMap(({ container, field, index }) =>
    (container.resources?.claims ?? []).flatMap(({ name }, at) => {
      const path = `spec.${field}[${index}].resources.claims[${at}]`;
      if (name === '') return [required(path)];
      return known.has(name) ? [] : [{ path, message: `Not found: ${shownValue(name)}` }];
    }),
  );
}

/** Only cpu and memory are resized, and a container that may not restart is not resized by a restart. */
export function validateResizePolicies(spec: PodSpec): Problem[] {
  return containersOf(spec).flatMap(({ container, field, index }) =>
    (container.resizePolicy ?? []).flatMap(({ resourceName, restartPolicy }, at) => {
      const path = `spec.${field}[${index}].resizePolicy[${at}]`;
      const mayRestart = (container.restartPolicy ?? spec.restartPolicy) !== 'Never';
      return [
        ...(['cpu', 'memory'].includes(resourceName)
          ? []
          : [notSupported(`${path}.resourceName`, resourceName, ['cpu', 'memory'])]),
        ...(restartPolicy === 'RestartContainer' && !mayRestart
          ? [invalid(`${path}.restartPolicy`, restartPolicy, "must be 'NotRequired' when `restartPolicy` is 'Never'")]
          : []),
      ];
    }),
  );
}
