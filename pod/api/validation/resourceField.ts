import type { Problem } from '../problem.ts';
import { canonicalQuantity, parseQuantity } from '../quantity.ts';
import type { ResourceFieldSelector } from '../schema/env.ts';
import { invalid } from './words.ts';

const RESOURCES = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/;
const CPU = ['1m', '1'];
const BYTES = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** A resource that containers have, in a unit that it is told in; `unsupported` says what others are not. */
export function validateResourceField(
  { resource, divisor = '0' }: ResourceFieldSelector,
  path: string,
  unsupported: string,
): Problem[] {
  const [, , name] = RESOURCES.exec(resource) ?? [];
  if (name === undefined) return [invalid(`${path}.resource`, resource, unsupported)];
  const units = name === 'cpu' ? CPU : BYTES;
  if (parseQuantity(divisor) === 0n || units.includes(canonicalQuantity(divisor))) return [];
  const listed = name === 'cpu' ? units.join(' and ') : units.join(', ');
  const detail = `only divisor's values ${listed} are supported with the ${called(name)} resource`;
  return [invalid(`${path}.divisor`, resource, detail)];
}

function called(resource: string): string {
  if (resource === 'ephemeral-storage') return 'local ephemeral storage';
  return resource.startsWith('hugepages-') ? 'hugepages' : resource;
}
