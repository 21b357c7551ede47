import { lookUp } from '../../base/lookUp.ts';
import { quoted } from '../../base/quoted.ts';
import { containersOf } from '../api/containers.ts';
import { parseQuantity } from '../api/quantity.ts';
import type { Container } from '../api/schema/container.ts';
import type { ResourceFieldSelector } from '../api/schema/env.ts';
import type { Pod, PodSpec } from '../api/schema/pod.ts';
import type { ResourceList } from '../api/schema/scalars.ts';

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
    return key === undefined ? formatMap(values) : (lookUp(values, key) ?? '');
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
  return lookUp(fields, path);
}

/** Labels or annotations as a file shows them: a line `key="value"` each, by key. */
function formatMap(values: Readonly<Record<string, string>>): string {
  const keys = Object.keys(values).sort();
  return keys.map((key) => `${key}=${quoted(lookUp(values, key) ?? '')}`).join('\n');
}

/** Limits that have a stand-in where they are not set or zero; huge pages have none, for they are never overcommitted. */
const HAVE_STAND_IN = ['cpu', 'memory', 'ephemeral-storage'];

/**
 * The value of a resourceFieldRef in its divisor's units, rounded up (C21). A limit that is not set is the pod's own, else
 * what the node can give (`allocatable`, quantities by resource). `self` is the container that asks, where none is named.
 */
export function resourceValue(
  pod: Pod,
  { containerName, resource: field, divisor }: ResourceFieldSelector,
  { self, allocatable }: { self?: Container; allocatable: ResourceList },
): string | undefined {
  const { spec } = pod;
  const named = () => containersOf(spec).find(({ container }) => container.name === containerName)?.container;
  const container = containerName ? named() : self;
  if (container === undefined) return undefined;
  const [, kind, resource] = /^(limits|requests)\.(.+)$/.exec(field) ?? [];
  if (resource === undefined) return undefined;
  const set = parsed(lookUp(container.resources?.[kind === 'limits' ? 'limits' : 'requests'], resource));
  // As with a kubelet, init containers that others refer to by name have none.
  const isFilled = !containerName || spec.containers.some((each) => each === container);
  const hasStandIn = kind === 'limits' && isFilled && HAVE_STAND_IN.includes(resource);
  const amount = set || !hasStandIn ? set : standIn(spec, resource, allocatable);
  // A divisor of zero or none is one.
  const unit = parsed(divisor) || 1_000_000_000n;
  return String((amount + unit - 1n) / unit);
}

const parsed = (text: string | undefined): bigint => (text === undefined ? 0n : (parseQuantity(text) ?? 0n));

function standIn({ resources }: PodSpec, resource: string, allocatable: ResourceList): bigint {
  // A pod has no limit of its own for the disk that it writes to.
  const own = resource === 'ephemeral-storage' ? 0n : parsed(lookUp(resources?.limits, resource));
  return own || parsed(lookUp(allocatable, resource));
}
