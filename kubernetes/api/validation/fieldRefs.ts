/**
 * Validates references to fields and resources in environment variables and downward API volumes (`core/validation`).
 */
import type { Problem } from '../problem.ts';
import type { ObjectFieldSelector, ResourceFieldSelector } from '../schema/env.ts';
import { canonicalQuantity, nanosOf } from '../values/quantity.ts';
import { labelKeyProblems } from './metadata/nameRules.ts';
import { allInvalid, invalid, notSupported, required } from './words.ts';

/** The fields that the downward API supports (`ConvertDownwardAPIFieldLabel` of `apis/core/pods`). */
const DOWNWARD_FIELDS: ReadonlySet<string> = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);

/** Checks that a field exists and is in `supported`. Any single label or annotation is supported. */
export function validateFieldRef(
  { apiVersion = '', fieldPath }: ObjectFieldSelector,
  supported: readonly string[],
  path: string,
): Problem[] {
  if (apiVersion === '') return [required(`${path}.apiVersion`)];
  const problemPath = `${path}.fieldPath`;
  if (fieldPath === '') return [required(problemPath)];
  const conversionProblem = (detail: string) => [
    invalid(problemPath, fieldPath, `error converting fieldPath: ${detail}`),
  ];
  if (apiVersion !== 'v1') return conversionProblem(`unsupported pod version: ${apiVersion}`);
  const [, map, key] = /^(.+?)\['(.*)'\]$/s.exec(fieldPath) ?? [];
  if (map !== undefined && key !== undefined) {
    if (map === 'metadata.annotations') return allInvalid(path, key.toLowerCase(), labelKeyProblems(key.toLowerCase()));
    if (map === 'metadata.labels') return allInvalid(path, key, labelKeyProblems(key));
    return conversionProblem(`field label does not support subscript: ${fieldPath}`);
  }
  const field = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath;
  if (!DOWNWARD_FIELDS.has(field)) return conversionProblem(`field label not supported: ${fieldPath}`);
  return supported.includes(field) ? [] : [notSupported(problemPath, field, supported)];
}

const RESOURCE_NAMES = ['cpu', 'ephemeral-storage', 'memory'] as const;
const SUPPORTED_RESOURCES = [
  ...RESOURCE_NAMES.map((name) => `limits.${name}`),
  ...RESOURCE_NAMES.map((name) => `requests.${name}`),
];
const HUGE_PAGES_PATTERN = /^(limits|requests)\.hugepages-/;

/**
 * Checks the resource and the divisor of a resourceFieldRef. In a volume, the reference must also name the container.
 */
export function validateResourceFieldRef(
  { containerName, resource, divisor = '0' }: ResourceFieldSelector,
  path: string,
  isInVolume: boolean,
): Problem[] {
  const isKnownResource = SUPPORTED_RESOURCES.includes(resource) || HUGE_PAGES_PATTERN.test(resource);
  const problem =
    isInVolume && !containerName
      ? required(`${path}.containerName`)
      : resource === ''
        ? required(`${path}.resource`)
        : isKnownResource
          ? undefined
          : notSupported(`${path}.resource`, resource, SUPPORTED_RESOURCES);
  return [...(problem === undefined ? [] : [problem]), ...validateDivisor(resource, divisor, `${path}.divisor`)];
}

const CPU_DIVISORS = ['1m', '1'];
const BYTE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/**
 * Pattern of quantities that Kubernetes rejects as divisors although their value is allowed. Kubernetes compares
 * strings (`Quantity.String`), which retain exponents and leading zeros.
 */
const NON_CANONICAL_PATTERN = /[eE][+-]?\d+$|^[+-]?0\d/;

const isWholeMilli = (quantity: string): boolean => nanosOf(quantity) % 1_000_000n === 0n;

function validateDivisor(resource: string, divisor: string, path: string): Problem[] {
  if (nanosOf(divisor) === 0n) return [];
  const name = HUGE_PAGES_PATTERN.test(resource)
    ? 'hugepages'
    : SUPPORTED_RESOURCES.includes(resource)
      ? displayResourceName(resource)
      : undefined;
  if (name === undefined) return [];
  const divisors = name === 'cpu' ? CPU_DIVISORS : BYTE_DIVISORS;
  if (!NON_CANONICAL_PATTERN.test(divisor) && isWholeMilli(divisor) && divisors.includes(canonicalQuantity(divisor)))
    return [];
  const divisorList = name === 'cpu' ? divisors.join(' and ') : divisors.join(', ');
  return [invalid(path, resource, `only divisor's values ${divisorList} are supported with the ${name} resource`)];
}

function displayResourceName(resource: string): string {
  const name = resource.slice(resource.indexOf('.') + 1);
  return name === 'ephemeral-storage' ? 'local ephemeral storage' : name;
}
