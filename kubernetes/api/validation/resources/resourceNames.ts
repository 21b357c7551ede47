/** Validates resource names (`pkg/apis/core/helper` and `validateResourceName` of `core/validation`). */
import type { Problem } from '../../problem.ts';
import { labelKeyProblems } from '../metadata/nameRules.ts';
import { allInvalid, invalid, notSupported } from '../words.ts';

const COUNTED_RESOURCES = ['pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps'];
const INTEGER_RESOURCES: ReadonlySet<string> = new Set([
  ...COUNTED_RESOURCES,
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);
const COMPUTE_RESOURCES = ['cpu', 'memory', 'ephemeral-storage'];
const STANDARD_RESOURCES: ReadonlySet<string> = new Set([
  ...INTEGER_RESOURCES,
  ...COMPUTE_RESOURCES,
  ...COMPUTE_RESOURCES.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  'storage',
  'requests.storage',
]);

export const isHugePages = (name: string): boolean => name.startsWith('hugepages-');

/** Returns the page size in the name of a resource, e.g. `2Mi` for `hugepages-2Mi`. Undefined for other resources. */
export const hugePageSize = (name: string): string | undefined => /^hugepages-(.+)$/.exec(name)?.[1];

/** Whether a resource is native to Kubernetes, i.e. its name has no domain or the domain of Kubernetes. */
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');

/** Whether a resource is extended, i.e. whether its name has a custom domain and is also valid in a ResourceQuota. */
const isExtended = (name: string): boolean =>
  !isNative(name) && !name.startsWith('requests.') && labelKeyProblems(`requests.${name}`).length === 0;

/** Whether amounts of a resource must be integers. */
export const isInteger = (name: string): boolean => INTEGER_RESOURCES.has(name) || isExtended(name);

/** Whether limits of a resource may exceed its requests. */
export const isOvercommitAllowed = (name: string): boolean => isNative(name) && !isHugePages(name);

function validateResourceName(name: string, path: string): Problem[] {
  const problems = allInvalid(path, name, labelKeyProblems(name));
  if (problems.length > 0 || name.includes('/')) return problems;
  const isStandard = STANDARD_RESOURCES.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-');
  return isStandard ? [] : [invalid(path, name, 'must be a standard resource type or fully qualified')];
}

export function validateContainerResourceName(name: string, path: string): Problem[] {
  const problems = validateResourceName(name, path);
  if (!name.includes('/')) {
    const isContainerResource = COMPUTE_RESOURCES.includes(name) || isHugePages(name);
    return isContainerResource
      ? problems
      : [...problems, invalid(path, name, 'must be a standard resource for containers')];
  }
  if (isNative(name) || isExtended(name)) return problems;
  return [...problems, invalid(path, name, "doesn't follow extended resource name standard")];
}

export function validatePodResourceName(name: string, path: string): Problem[] {
  const problems = validateResourceName(name, path);
  if (problems.length > 0 || ['cpu', 'memory'].includes(name) || isHugePages(name)) return problems;
  return [notSupported(path, name, ['cpu', 'hugepages-', 'memory'])];
}
