import { quotedText } from '../../base/text/quotedText.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { containersOf } from '../api/pods/containers.ts';
import type { Container } from '../api/schema/container.ts';
import type { ResourceFieldSelector } from '../api/schema/env.ts';
import type { Pod, PodSpec } from '../api/schema/pod.ts';
import type { ResourceList } from '../api/schema/scalars.ts';
import { parseQuantity } from '../api/values/quantity.ts';

/** Addresses of a pod and of its node. The primary address is the first in each list. */
export interface Addresses {
  readonly podIps: readonly string[];
  readonly hostIps: readonly string[];
}

/**
 * Returns the value of a fieldRef (C21). The result is empty if the field has no value yet, and undefined if the path
 * is not supported.
 */
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

/** Formats labels or annotations for a file, as lines `key="value"` sorted by key. */
function formatMap(values: Readonly<Record<string, string>>): string {
  const keys = Object.keys(values).sort();
  return keys.map((key) => `${key}=${quotedText(lookUp(values, key) ?? '')}`).join('\n');
}

/**
 * Resources whose limits have a default if they are missing or zero. The limits of huge pages have none, because huge
 * pages cannot be overcommitted.
 */
const DEFAULTED_LIMITS = ['cpu', 'memory', 'ephemeral-storage'];

/**
 * Returns the value of a resourceFieldRef in units of its divisor, rounded up (C21). A missing limit defaults to the
 * pod-level limit, or else to the node's `allocatable` (quantities by resource). `self` is the container to use if the
 * reference does not name a container.
 */
export function resourceValue(
  pod: Pod,
  { containerName, resource: field, divisor }: ResourceFieldSelector,
  { self, allocatable }: { self?: Container; allocatable: ResourceList },
): string | undefined {
  const { spec } = pod;
  const findContainer = () => containersOf(spec).find(({ container }) => container.name === containerName)?.container;
  const container = containerName ? findContainer() : self;
  if (container === undefined) return undefined;
  const [, kind, resource] = /^(limits|requests)\.(.+)$/.exec(field) ?? [];
  if (resource === undefined) return undefined;
  const ownAmount = parseNanos(lookUp(container.resources?.[kind === 'limits' ? 'limits' : 'requests'], resource));
  // Like the kubelet, apply no defaults if the reference names a container that is not a regular container.
  const isDefaulted = !containerName || spec.containers.some((each) => each === container);
  const hasDefault = kind === 'limits' && isDefaulted && DEFAULTED_LIMITS.includes(resource);
  const amount = ownAmount || !hasDefault ? ownAmount : defaultLimit(spec, resource, allocatable);
  // Use 1 if the divisor is missing or zero.
  const divisorNanos = parseNanos(divisor) || 1_000_000_000n;
  return String((amount + divisorNanos - 1n) / divisorNanos);
}

const parseNanos = (text: string | undefined): bigint => (text === undefined ? 0n : (parseQuantity(text) ?? 0n));

function defaultLimit({ resources }: PodSpec, resource: string, allocatable: ResourceList): bigint {
  // Ephemeral storage has no pod-level limit.
  const podLimit = resource === 'ephemeral-storage' ? 0n : parseNanos(lookUp(resources?.limits, resource));
  return podLimit || parseNanos(lookUp(allocatable, resource));
}
