/** Checks of resource requirements (`validateResourceRequirements` of `core/validation`). */
import { lookUp } from '../../../base/lookUp.ts';
import type { Problem } from '../problem.ts';
import { canonicalQuantity, nanosOf } from '../quantity.ts';
import type { ResourceRequirements } from '../schema/container.ts';
import { isHugePages, isInteger, isOvercommitAllowed, validateContainerResourceName } from './resourceNames.ts';
import { dnsLabel, duplicate, forbidden, invalid, notFound, required } from './words.ts';

const UNIT = 1_000_000_000n;
const MILLI = 1_000_000n;

/** The check of the names of resources, and the claims of the pod that containers may use. */
export interface ResourceRules {
  readonly validateName?: (name: string, path: string) => Problem[];
  readonly podClaims?: readonly string[];
}

/** Checks names, amounts, requests against limits, and the claims that a container uses. */
export function validateResources(
  { requests = {}, limits = {}, claims = [] }: ResourceRequirements,
  path: string,
  { validateName = validateContainerResourceName, podClaims = [] }: ResourceRules = {},
): Problem[] {
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  const needsComputeResource = names.some(isHugePages) && !names.some((name) => name === 'cpu' || name === 'memory');
  const validateAmount = (kind: 'limits' | 'requests', name: string, amount: string): Problem[] => {
    const at = `${path}.${kind}[${name}]`;
    return [...validateName(name, at), ...validateQuantity(name, amount, at)];
  };
  return [
    ...Object.entries(limits).flatMap(([name, limit]) => [
      ...validateAmount('limits', name, limit),
      ...validateHugePages(name, limit, `${path}.limits[${name}]`),
    ]),
    ...Object.entries(requests).flatMap(([name, request]) => [
      ...validateAmount('requests', name, request),
      ...validateAgainstLimit(name, request, lookUp(limits, name), path),
      ...validateHugePages(name, request, `${path}.requests[${name}]`),
    ]),
    ...(needsComputeResource ? [forbidden(path, 'HugePages require cpu or memory')] : []),
    ...validateClaims(claims, podClaims, `${path}.claims`),
  ];
}

/** Checks that an amount is not negative, and whole where the resource is counted. */
export function validateQuantity(name: string, amount: string, path: string): Problem[] {
  const nanos = nanosOf(amount);
  const millis = nanos / MILLI;
  return [
    ...notNegativeQuantity(amount, path),
    ...(isInteger(name) && millis % 1_000n !== 0n
      ? [invalid(path, canonicalQuantity(amount), 'must be an integer')]
      : []),
  ];
}

const notNegativeQuantity = (amount: string, path: string): Problem[] =>
  nanosOf(amount) < 0n ? [invalid(path, canonicalQuantity(amount), 'must be greater than or equal to 0')] : [];

function validateAgainstLimit(name: string, request: string, limit: string | undefined, path: string): Problem[] {
  const at = `${path}.requests`;
  if (limit === undefined) {
    return isOvercommitAllowed(name)
      ? []
      : [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
  }
  const [requestNanos, limitNanos] = [nanosOf(request), nanosOf(limit)];
  const shown = canonicalQuantity(limit);
  if (requestNanos !== limitNanos && !isOvercommitAllowed(name))
    return [invalid(at, canonicalQuantity(request), `must be equal to ${name} limit of ${shown}`)];
  return requestNanos > limitNanos
    ? [invalid(at, canonicalQuantity(request), `must be less than or equal to ${name} limit of ${shown}`)]
    : [];
}

/** Checks that an amount of huge pages consists of whole pages. */
function validateHugePages(name: string, amount: string, path: string): Problem[] {
  if (!isHugePages(name)) return [];
  const size = pageSize(name);
  const bytes = nanosOf(amount) / UNIT;
  if (size > 0n && bytes % size === 0n) return [];
  const shown = canonicalQuantity(amount);
  return [invalid(path, shown, `${shown} is not positive integer multiple of ${name}`)];
}

/** The bytes of a page by the name of its resource; 0 where the name has no size of whole bytes. */
function pageSize(name: string): bigint {
  try {
    const nanos = nanosOf(name.slice('hugepages-'.length));
    return nanos > 0n && nanos % UNIT === 0n ? nanos / UNIT : 0n;
  } catch {
    return 0n;
  }
}

type Claims = NonNullable<ResourceRequirements['claims']>;

function validateClaims(claims: Claims, podClaims: readonly string[], path: string): Problem[] {
  if (claims.length === 0) return [];
  const ofPod = new Set(podClaims);
  const names = ofPod.size === 0 ? ' which is empty' : `: ${[...ofPod].sort().join(', ')}`;
  const missing = `must be one of the names in pod.spec.resourceClaims${names}`;
  const used: UsedClaims = { whole: new Set(), requests: new Map() };
  return claims.flatMap(({ name, request = '' }, index) => {
    const at = `${path}[${index}]`;
    if (name === '') return [required(at)];
    return [...validateClaim(name, request, used, at), ...(ofPod.has(name) ? [] : [notFound(at, name, missing)])];
  });
}

/** The claims that a container uses as a whole, and the requests of others by the name of the claim. */
interface UsedClaims {
  readonly whole: Set<string>;
  readonly requests: Map<string, Set<string>>;
}

/** A claim is used once as a whole, or once for each of its requests. */
function validateClaim(name: string, request: string, { whole, requests }: UsedClaims, path: string): Problem[] {
  if (whole.has(name)) return [duplicate(path, name)];
  const before = requests.get(name) ?? new Set<string>();
  if (request === '') {
    whole.add(name);
    return before.size > 0 ? [duplicate(path, name)] : [];
  }
  const isRepeated = before.has(request);
  requests.set(name, before.add(request));
  return [...dnsLabel(`${path}.request`, request), ...(isRepeated ? [duplicate(path, `${name}/${request}`)] : [])];
}
