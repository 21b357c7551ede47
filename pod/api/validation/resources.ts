import { lookUp } from '../../lookUp.ts';
import type { Problem } from '../problem.ts';
import { parseQuantity } from '../quantity.ts';
import type { ResourceRequirements } from '../schema/container.ts';
import type { ResourceList } from '../schema/scalars.ts';
import { invalid } from './words.ts';

/** No negative quantity, and no request above its limit. */
export function validateResources(resources: ResourceRequirements | undefined, path: string): Problem[] {
  const { requests = {}, limits = {} } = resources ?? {};
  return [
    ...validateAmounts(limits, `${path}.limits`),
    ...validateAmounts(requests, `${path}.requests`),
    ...Object.entries(requests).flatMap(([resource, request]) => {
      const limit = lookUp(limits, resource);
      const above = limit !== undefined && (parseQuantity(request) ?? 0n) > (parseQuantity(limit) ?? 0n);
      const detail = `must be less than or equal to ${resource} limit of ${limit}`;
      return above ? [invalid(`${path}.requests`, request, detail)] : [];
    }),
  ];
}

/** Every amount of a list is at least 0. */
export function validateAmounts(amounts: ResourceList, path: string): Problem[] {
  return Object.entries(amounts).flatMap(([resource, text]) => validateQuantity(text, `${path}[${resource}]`));
}

/** A quantity is at least 0. */
export function validateQuantity(text: string, path: string): Problem[] {
  const negative = (parseQuantity(text) ?? 0n) < 0n;
  return negative ? [invalid(path, text, 'must be greater than or equal to 0')] : [];
}
