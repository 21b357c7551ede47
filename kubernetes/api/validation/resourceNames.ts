/** The names that resources may have (`pkg/apis/core/helper` and `validateResourceName` of `core/validation`). */
import type { Problem } from '../problem.ts';
import { labelKey } from './nameRules.ts';
import { allInvalid, invalid, notSupported } from './words.ts';

const COUNTED = ['pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps'];
const INTEGERS: ReadonlySet<string> = new Set([
  ...COUNTED,
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);
const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const STANDARD: ReadonlySet<string> = new Set([
  ...INTEGERS,
  ...COMPUTE,
  ...COMPUTE.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  'storage',
  'requests.storage',
]);

export const isHugePages = (name: string): boolean => name.startsWith('hugepages-');

/** A name of Kubernetes itself: one without a domain, or in that of Kubernetes. */
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');

/** Whether a name has a domain of its own and can be a quota's name, too. */
const isExtended = (name: string): boolean =>
  !isNative(name) && !name.startsWith('requests.') && labelKey(`requests.${name}`).length === 0;

/** Whether a resource is counted in whole pieces. */
export const isInteger = (name: string): boolean => INTEGERS.has(name) || isExtended(name);

/** Whether more of a resource may be used than is requested. */
export const isOvercommitAllowed = (name: string): boolean => isNative(name) && !isHugePages(name);

function validateResourceName(name: string, path: string): Problem[] {
  const problems = allInvalid(path, name, labelKey(name));
  if (problems.length > 0 || name.includes('/')) return problems;
  const isStandard = STANDARD.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-');
  return isStandard ? [] : [invalid(path, name, 'must be a standard resource type or fully qualified')];
}

/** Checks the name of a resource of a container. */
export function validateContainerResourceName(name: string, path: string): Problem[] {
  const problems = validateResourceName(name, path);
  if (!name.includes('/')) {
    const isOfContainers = COMPUTE.includes(name) || isHugePages(name);
    return isOfContainers ? problems : [...problems, invalid(path, name, 'must be a standard resource for containers')];
  }
  if (isNative(name) || isExtended(name)) return problems;
  return [...problems, invalid(path, name, "doesn't follow extended resource name standard")];
}

/** Checks the name of a resource of pod level. */
export function validatePodResourceName(name: string, path: string): Problem[] {
  const problems = validateResourceName(name, path);
  if (problems.length > 0 || ['cpu', 'memory'].includes(name) || isHugePages(name)) return problems;
  return [notSupported(path, name, ['cpu', 'hugepages-', 'memory'])];
}
