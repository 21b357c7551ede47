/** Checks of the fields and resources that variables and downwardAPI volumes show (`core/validation`). */
import type { Problem } from '../problem.ts';
import { canonicalQuantity, nanosOf } from '../quantity.ts';
import type { ObjectFieldSelector, ResourceFieldSelector } from '../schema/env.ts';
import { labelKey } from './nameRules.ts';
import { allInvalid, invalid, notSupported, required } from './words.ts';

/** The fields that exist for the downward API (`ConvertDownwardAPIFieldLabel` of `apis/core/pods`). */
const FIELDS: ReadonlySet<string> = new Set([
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

/** Checks that a field exists and that `supported` has it, unless it is one label or annotation. */
export function validateFieldRef(
  { apiVersion = '', fieldPath }: ObjectFieldSelector,
  supported: readonly string[],
  path: string,
): Problem[] {
  if (apiVersion === '') return [required(`${path}.apiVersion`)];
  const at = `${path}.fieldPath`;
  if (fieldPath === '') return [required(at)];
  const wrong = (why: string) => [invalid(at, fieldPath, `error converting fieldPath: ${why}`)];
  if (apiVersion !== 'v1') return wrong(`unsupported pod version: ${apiVersion}`);
  const [, map, key] = /^(.+?)\['(.*)'\]$/s.exec(fieldPath) ?? [];
  if (map !== undefined && key !== undefined) {
    if (map === 'metadata.annotations') return allInvalid(path, key.toLowerCase(), labelKey(key.toLowerCase()));
    if (map === 'metadata.labels') return allInvalid(path, key, labelKey(key));
    return wrong(`field label does not support subscript: ${fieldPath}`);
  }
  const field = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath;
  if (!FIELDS.has(field)) return wrong(`field label not supported: ${fieldPath}`);
  return supported.includes(field) ? [] : [notSupported(at, field, supported)];
}

const RESOURCES = ['cpu', 'ephemeral-storage', 'memory'] as const;
const SUPPORTED = [...RESOURCES.map((name) => `limits.${name}`), ...RESOURCES.map((name) => `requests.${name}`)];
const HUGE_PAGES = /^(limits|requests)\.hugepages-/;

/** Checks that a resource can be shown, and the unit in which it is. A volume must name the container. */
export function validateResourceFieldRef(
  { containerName, resource, divisor = '0' }: ResourceFieldSelector,
  path: string,
  isInVolume: boolean,
): Problem[] {
  const isKnown = SUPPORTED.includes(resource) || HUGE_PAGES.test(resource);
  const problem =
    isInVolume && !containerName
      ? required(`${path}.containerName`)
      : resource === ''
        ? required(`${path}.resource`)
        : isKnown
          ? undefined
          : notSupported(`${path}.resource`, resource, SUPPORTED);
  return [...(problem === undefined ? [] : [problem]), ...validateDivisor(resource, divisor, `${path}.divisor`)];
}

const CPU = ['1m', '1'];
const BYTES = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** Exponents and leading zeros remain in the text that the kubelet compares with the units (`Quantity.String`). */
const NOT_CANONICAL = /[eE][+-]?\d+$|^[+-]?0\d/;

const isWholeMilli = (quantity: string): boolean => nanosOf(quantity) % 1_000_000n === 0n;

function validateDivisor(resource: string, divisor: string, path: string): Problem[] {
  if (nanosOf(divisor) === 0n) return [];
  const name = HUGE_PAGES.test(resource) ? 'hugepages' : SUPPORTED.includes(resource) ? nameIn(resource) : undefined;
  if (name === undefined) return [];
  const units = name === 'cpu' ? CPU : BYTES;
  if (!NOT_CANONICAL.test(divisor) && isWholeMilli(divisor) && units.includes(canonicalQuantity(divisor))) return [];
  const listed = name === 'cpu' ? units.join(' and ') : units.join(', ');
  return [invalid(path, resource, `only divisor's values ${listed} are supported with the ${name} resource`)];
}

function nameIn(resource: string): string {
  const name = resource.slice(resource.indexOf('.') + 1);
  return name === 'ephemeral-storage' ? 'local ephemeral storage' : name;
}
