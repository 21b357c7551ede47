import { containersOf } from './containers.ts';
import { parseQuantity } from './quantity.ts';
import { quoted } from './quoted.ts';
import type { Container } from './schema/container.ts';
import type { ResourceFieldSelector } from './schema/env.ts';
import type { Pod } from './schema/pod.ts';

/** A pod's addresses and its node's, the primary first. */
export interface Addresses {
  readonly podIps: readonly string[];
  readonly hostIps: readonly string[];
}

/** The value of a fieldRef (C21), empty for what is not set yet; undefined for a path that is no such field. */
export function fieldValue(pod: Pod, path: string, { podIps, hostIps }: Addresses): string | undefined {
  const { metadata, spec } = pod;
  const [, map, key] = /^metadata\.(labels|annotations)(?:\['(.*)'\])?$/.exec(path) ?? [];
  if (map !== undefined) {
    const values = (map === 'labels' ? metadata.labels : metadata.annotations) ?? {};
    return key === undefined ? formatMap(values) : (own(values, key) ?? '');
  }
  const fields: Readonly<Record<string, string>> = {
    'metadata.name': metadata.name,
    'metadata.namespace': metadata.namespace,
    'metadata.uid': metadata.uid,
    'spec.nodeName': spec.nodeName ?? '',
    'spec.serviceAccountName': spec.serviceAccountName ?? '',
    'status.hostIP': hostIps[0] ?? '',
    'status.hostIPs': hostIps.join(','),
    'status.podIP': podIps[0] ?? '',
    'status.podIPs': podIps.join(','),
  };
  return own(fields, path);
}

/** A key that users give may be the name of something that every object inherits. */
function own(values: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(values, key) ? values[key] : undefined;
}

/** Labels or annotations as a file shows them: a line `key="value"` each, by key. */
function formatMap(values: Readonly<Record<string, string>>): string {
  const keys = Object.keys(values).sort();
  return keys.map((key) => `${key}=${quoted(values[key] ?? '')}`).join('\n');
}

/**
 * The value of a resourceFieldRef in its divisor's units, rounded up (C21). A limit that is not set is what the node
 * can give (`allocatable`, quantities by resource). `self` is the container that asks, where none is named.
 */
export function resourceValue(
  pod: Pod,
  { containerName, resource: field, divisor }: ResourceFieldSelector,
  { self, allocatable }: { self?: Container; allocatable: Readonly<Record<string, string>> },
): string | undefined {
  const named = containersOf(pod.spec).find(({ container }) => container.name === containerName)?.container;
  const resources = (containerName === undefined ? self : named)?.resources;
  const [, kind, resource] = /^(limits|requests)\.(.+)$/.exec(field) ?? [];
  if (resource === undefined) return undefined;
  const set =
    kind === 'limits' ? (resources?.limits?.[resource] ?? allocatable[resource]) : resources?.requests?.[resource];
  const amount = parseQuantity(set ?? '0') ?? 0n;
  // A divisor of zero or none is one.
  const unit = parseQuantity(divisor ?? '') || 1_000_000_000n;
  return String((amount + unit - 1n) / unit);
}
