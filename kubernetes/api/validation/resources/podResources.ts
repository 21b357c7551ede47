/** Validates pod-level resources and resource claims (`validatePodResources` of `core/validation`). */
import { lookUp } from '../../../../base/values/lookUp.ts';
import { aggregateNanos } from '../../../resources/resources.ts';
import { containersOf } from '../../pods/containers.ts';
import type { Problem } from '../../problem.ts';
import type { Container } from '../../schema/container.ts';
import type { Pod, PodSpec } from '../../schema/pod.ts';
import { canonicalQuantity, nanosOf, quantityLike } from '../../values/quantity.ts';
import {
  duplicate,
  forbidden,
  invalid,
  validateDnsSubdomain,
  validateRequiredLabel,
  validateRequiredOneOf,
} from '../words.ts';
import { isHugePages, validatePodResourceName } from './resourceNames.ts';
import { validateResources } from './resources.ts';

/**
 * Checks that a pod's requests cover those of its containers, and that no container's limit exceeds the pod's limit.
 */
export function validatePodResources(spec: PodSpec, podClaims: readonly string[]): Problem[] {
  const { resources, os } = spec;
  const path = 'spec.resources';
  if (resources === undefined) return [];
  if (os?.name === 'windows') return [forbidden(path, 'may not be set for a windows pod')];
  return [
    ...(resources.claims ? [forbidden(`${path}.claims`, 'claims may not be set for Resources at pod-level')] : []),
    ...validateResources(resources, path, { validateName: validatePodResourceName, podClaims }),
    ...Object.keys(resources.requests ?? {}).flatMap((resource) => validateSum(spec, 'requests', resource)),
    ...Object.keys(resources.limits ?? {}).flatMap((resource) =>
      isHugePages(resource) ? validateSum(spec, 'limits', resource) : [],
    ),
    ...validateContainerLimits(spec),
  ];
}

function validateSum(spec: PodSpec, kind: 'requests' | 'limits', resource: string): Problem[] {
  const podAmount = lookUp(spec.resources?.[kind], resource) ?? '0';
  const sum = aggregateNanos(spec, kind, resource);
  if (sum <= nanosOf(podAmount)) return [];
  const amounts = containersOf(spec).map(({ container }) => lookUp(container.resources?.[kind], resource));
  const sumText = quantityLike(sum, amounts.find((amount) => amount !== undefined) ?? '0');
  const detail = `must be greater than or equal to aggregate container ${kind} of ${sumText}`;
  return [invalid(`spec.resources.${kind}[${resource}]`, canonicalQuantity(podAmount), detail)];
}

/**
 * Checks that the limits of containers do not exceed the pod's. The path is that of Kubernetes's message, although
 * there is no such field.
 */
function validateContainerLimits(spec: PodSpec): Problem[] {
  return spec.containers.flatMap(({ resources }, index) =>
    Object.entries(resources?.limits ?? {}).flatMap(([name, limit]) => {
      const podLimit = lookUp(spec.resources?.limits, name);
      if (podLimit === undefined || nanosOf(limit) <= nanosOf(podLimit)) return [];
      const path = `spec.resources.containers[${index}][${name}].limits`;
      const detail = `must be less than or equal to pod limits of ${canonicalQuantity(podLimit)}`;
      return [invalid(path, canonicalQuantity(limit), detail)];
    }),
  );
}

/**
 * Checks that resize policies exist only for CPU and memory, and that they do not require restarts in a pod whose
 * restartPolicy is Never.
 */
export function validateResizePolicy(
  policies: NonNullable<Container['resizePolicy']>,
  podRestartPolicy: PodSpec['restartPolicy'],
  path: string,
): Problem[] {
  const resourceNames = new Set<string>();
  return policies.flatMap(({ resourceName, restartPolicy }, index) => {
    const isRepeated = resourceNames.has(resourceName);
    resourceNames.add(resourceName);
    return [
      ...(isRepeated ? [duplicate(`${path}[${index}]`, resourceName)] : []),
      ...validateRequiredOneOf(path, resourceName, ['cpu', 'memory']),
      ...validateRequiredOneOf(path, restartPolicy, ['NotRequired', 'RestartContainer']),
      ...(podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired'
        ? [invalid(path, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")]
        : []),
    ];
  });
}

const CLAIMS_PATH = 'spec.resourceClaims';

/** Checks that each claim of a pod has a unique name and exactly one source (`validatePodResourceClaim`). */
export function validatePodClaims({ metadata, spec }: Pod): Problem[] {
  const { resourceClaims = [] } = spec;
  const isMirror = Object.hasOwn(metadata.annotations ?? {}, 'kubernetes.io/config.mirror');
  if (isMirror) return resourceClaims.map(() => forbidden('', 'static pods do not support resource claims'));
  const names = new Set<string>();
  return resourceClaims.flatMap((claim, index) => {
    const path = `${CLAIMS_PATH}[${index}]`;
    const { name, resourceClaimName: claimName, resourceClaimTemplateName: templateName } = claim;
    const isRepeated = names.has(name);
    names.add(name);
    const goValue = {
      Name: name,
      ResourceClaimName: claimName ?? null,
      ResourceClaimTemplateName: templateName ?? null,
    };
    return [
      ...(isRepeated && name !== '' ? [duplicate(`${path}.name`, name)] : validateRequiredLabel(`${path}.name`, name)),
      ...(claimName !== undefined && templateName !== undefined
        ? [invalid(path, goValue, 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified')]
        : []),
      ...(claimName === undefined && templateName === undefined
        ? [invalid(path, goValue, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`')]
        : []),
      ...(claimName === undefined ? [] : validateDnsSubdomain(`${path}.resourceClaimName`, claimName)),
      ...(templateName === undefined ? [] : validateDnsSubdomain(`${path}.resourceClaimTemplateName`, templateName)),
    ];
  });
}
