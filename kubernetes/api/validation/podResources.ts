/** Checks of the resources and claims of pod level, beside those of the containers (`validatePodResources` of `core/validation`). */
import { lookUp } from '../../../base/lookUp.ts';
import { aggregateNanos } from '../../resources/resources.ts';
import { containersOf } from '../containers.ts';
import type { Problem } from '../problem.ts';
import { canonicalQuantity, nanosOf, quantityLike } from '../quantity.ts';
import type { Container } from '../schema/container.ts';
import type { Pod, PodSpec } from '../schema/pod.ts';
import { isHugePages, validatePodResourceName } from './resourceNames.ts';
import { validateResources } from './resources.ts';
import { dnsSubdomain, duplicate, forbidden, invalid, requiredLabel, requiredOneOf } from './words.ts';

/** Checks that a pod's requests cover those of its containers, and that no container may use more than the pod. */
export function validatePodResources(spec: PodSpec, podClaims: readonly string[]): Problem[] {
  const { resources, os } = spec;
  const path = 'spec.resources';
  if (resources === undefined) return [];
  if (os?.name === 'windows') return [forbidden(path, 'may not be set for a windows pod')];
  return [
    ...(resources.claims ? [forbidden(`${path}.claims`, 'claims may not be set for Resources at pod-level')] : []),
    ...validateResources(resources, path, { validateName: validatePodResourceName, podClaims }),
    ...Object.keys(resources.requests ?? {}).flatMap((resource) => sumAbove(spec, 'requests', resource)),
    ...Object.keys(resources.limits ?? {}).flatMap((resource) =>
      isHugePages(resource) ? sumAbove(spec, 'limits', resource) : [],
    ),
    ...limitsAbove(spec),
  ];
}

function sumAbove(spec: PodSpec, kind: 'requests' | 'limits', resource: string): Problem[] {
  const own = lookUp(spec.resources?.[kind], resource) ?? '0';
  const sum = aggregateNanos(spec, kind, resource);
  if (sum <= nanosOf(own)) return [];
  const amounts = containersOf(spec).map(({ container }) => lookUp(container.resources?.[kind], resource));
  const shown = quantityLike(sum, amounts.find((amount) => amount !== undefined) ?? '0');
  const detail = `must be greater than or equal to aggregate container ${kind} of ${shown}`;
  return [invalid(`spec.resources.${kind}[${resource}]`, canonicalQuantity(own), detail)];
}

/** The path of these problems is that of Kubernetes, although no field is there. */
function limitsAbove(spec: PodSpec): Problem[] {
  return spec.containers.flatMap(({ resources }, index) =>
    Object.entries(resources?.limits ?? {}).flatMap(([name, limit]) => {
      const most = lookUp(spec.resources?.limits, name);
      if (most === undefined || nanosOf(limit) <= nanosOf(most)) return [];
      const path = `spec.resources.containers[${index}][${name}].limits`;
      const detail = `must be less than or equal to pod limits of ${canonicalQuantity(most)}`;
      return [invalid(path, canonicalQuantity(limit), detail)];
    }),
  );
}

/** Checks that only cpu and memory are resized, and that containers of a pod that never restarts do not restart for it. */
export function validateResizePolicy(
  policies: NonNullable<Container['resizePolicy']>,
  podRestartPolicy: PodSpec['restartPolicy'],
  path: string,
): Problem[] {
  const seen = new Set<string>();
  return policies.flatMap(({ resourceName, restartPolicy }, index) => {
    const isRepeated = seen.has(resourceName);
    seen.add(resourceName);
    return [
      ...(isRepeated ? [duplicate(`${path}[${index}]`, resourceName)] : []),
      ...requiredOneOf(path, resourceName, ['cpu', 'memory']),
      ...requiredOneOf(path, restartPolicy, ['NotRequired', 'RestartContainer']),
      ...(podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired'
        ? [invalid(path, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")]
        : []),
    ];
  });
}

const CLAIMS = 'spec.resourceClaims';

/** Checks that each of a pod's claims has a name of its own and one source (`validatePodResourceClaim`). */
export function validatePodClaims({ metadata, spec }: Pod): Problem[] {
  const { resourceClaims = [] } = spec;
  const isMirror = Object.hasOwn(metadata.annotations ?? {}, 'kubernetes.io/config.mirror');
  if (isMirror) return resourceClaims.map(() => forbidden('', 'static pods do not support resource claims'));
  const names = new Set<string>();
  return resourceClaims.flatMap((claim, index) => {
    const path = `${CLAIMS}[${index}]`;
    const { name, resourceClaimName: own, resourceClaimTemplateName: template } = claim;
    const isRepeated = names.has(name);
    names.add(name);
    const shown = {
      Name: name,
      ResourceClaimName: own ?? null,
      ResourceClaimTemplateName: template ?? null,
    };
    return [
      ...(isRepeated && name !== '' ? [duplicate(`${path}.name`, name)] : requiredLabel(`${path}.name`, name)),
      ...(own !== undefined && template !== undefined
        ? [invalid(path, shown, 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified')]
        : []),
      ...(own === undefined && template === undefined
        ? [invalid(path, shown, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`')]
        : []),
      ...(own === undefined ? [] : dnsSubdomain(`${path}.resourceClaimName`, own)),
      ...(template === undefined ? [] : dnsSubdomain(`${path}.resourceClaimTemplateName`, template)),
    ];
  });
}
