/** Validates resource requirements (`validateResourceRequirements` of `core/validation`). */
import { lookUp } from '../../../../base/values/lookUp.ts';
import type { Problem } from '../../problem.ts';
import type { ResourceRequirements } from '../../schema/container.ts';
import { canonicalQuantity, nanosOf } from '../../values/quantity.ts';
import { duplicate, forbidden, invalid, notFound, required, validateDnsLabel } from '../words.ts';
import { isHugePages, isInteger, isOvercommitAllowed, validateContainerResourceName } from './resourceNames.ts';

const NANOS_PER_UNIT = 1_000_000_000n;
const NANOS_PER_MILLI = 1_000_000n;

/** Validator for the resource names, and the pod's claims that containers may use. */
export interface ResourceRules {
  readonly validateName?: (name: string, path: string) => Problem[];
  readonly podClaims?: readonly string[];
}

/** Validates the names, the amounts, the relation of requests to limits, and the claims. */
export function validateResources(
  { requests = {}, limits = {}, claims = [] }: ResourceRequirements,
  path: string,
  { validateName = validateContainerResourceName, podClaims = [] }: ResourceRules = {},
): Problem[] {
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  const needsComputeResource = names.some(isHugePages) && !names.some((name) => name === 'cpu' || name === 'memory');
  const validateAmount = (kind: 'limits' | 'requests', name: string, amount: string): Problem[] => {
    const fieldPath = `${path}.${kind}[${name}]`;
    return [...validateName(name, fieldPath), ...validateQuantity(name, amount, fieldPath)];
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

/** Checks that an amount is not negative, and that it is an integer if the resource requires one. */
export function validateQuantity(name: string, amount: string, path: string): Problem[] {
  const nanos = nanosOf(amount);
  const millis = nanos / NANOS_PER_MILLI;
  return [
    ...validateNotNegativeQuantity(amount, path),
    ...(isInteger(name) && millis % 1_000n !== 0n
      ? [invalid(path, canonicalQuantity(amount), 'must be an integer')]
      : []),
  ];
}

const validateNotNegativeQuantity = (amount: string, path: string): Problem[] =>
  nanosOf(amount) < 0n ? [invalid(path, canonicalQuantity(amount), 'must be greater than or equal to 0')] : [];

function validateAgainstLimit(name: string, request: string, limit: string | undefined, path: string): Problem[] {
  const fieldPath = `${path}.requests`;
  if (limit === undefined) {
    return isOvercommitAllowed(name)
      ? []
      : [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
  }
  const [requestNanos, limitNanos] = [nanosOf(request), nanosOf(limit)];
  const limitText = canonicalQuantity(limit);
  if (requestNanos !== limitNanos && !isOvercommitAllowed(name))
    return [invalid(fieldPath, canonicalQuantity(request), `must be equal to ${name} limit of ${limitText}`)];
  return requestNanos > limitNanos
    ? [invalid(fieldPath, canonicalQuantity(request), `must be less than or equal to ${name} limit of ${limitText}`)]
    : [];
}

/** Checks that an amount of huge pages is a multiple of the page size. */
function validateHugePages(name: string, amount: string, path: string): Problem[] {
  if (!isHugePages(name)) return [];
  const size = pageSizeBytes(name);
  const bytes = nanosOf(amount) / NANOS_PER_UNIT;
  if (size > 0n && bytes % size === 0n) return [];
  const amountText = canonicalQuantity(amount);
  return [invalid(path, amountText, `${amountText} is not positive integer multiple of ${name}`)];
}

/** Returns the page size in bytes from the resource name, or 0 if the name has no valid size. */
function pageSizeBytes(name: string): bigint {
  try {
    const nanos = nanosOf(name.slice('hugepages-'.length));
    return nanos > 0n && nanos % NANOS_PER_UNIT === 0n ? nanos / NANOS_PER_UNIT : 0n;
  } catch {
    return 0n;
  }
}

type Claims = NonNullable<ResourceRequirements['claims']>;

function validateClaims(claims: Claims, podClaims: readonly string[], path: string): Problem[] {
  if (claims.length === 0) return [];
  const podClaimNames = new Set(podClaims);
  const names = podClaimNames.size === 0 ? ' which is empty' : `: ${[...podClaimNames].sort().join(', ')}`;
  const missingMessage = `must be one of the names in pod.spec.resourceClaims${names}`;
  const usedClaims: UsedClaims = { wholeClaims: new Set(), requests: new Map() };
  return claims.flatMap(({ name, request = '' }, index) => {
    const itemPath = `${path}[${index}]`;
    if (name === '') return [required(itemPath)];
    return [
      ...validateClaim(name, request, usedClaims, itemPath),
      ...(podClaimNames.has(name) ? [] : [notFound(itemPath, name, missingMessage)]),
    ];
  });
}

/**
 * The claims that a container uses as a whole and, for each other claim, the requests within the claim that the
 * container uses.
 */
interface UsedClaims {
  readonly wholeClaims: Set<string>;
  readonly requests: Map<string, Set<string>>;
}

/** Checks that a claim is used either once as a whole or once per request. */
function validateClaim(name: string, request: string, { wholeClaims, requests }: UsedClaims, path: string): Problem[] {
  if (wholeClaims.has(name)) return [duplicate(path, name)];
  const usedRequests = requests.get(name) ?? new Set<string>();
  if (request === '') {
    wholeClaims.add(name);
    return usedRequests.size > 0 ? [duplicate(path, name)] : [];
  }
  const isRepeated = usedRequests.has(request);
  requests.set(name, usedRequests.add(request));
  return [
    ...validateDnsLabel(`${path}.request`, request),
    ...(isRepeated ? [duplicate(path, `${name}/${request}`)] : []),
  ];
}
