/** Checks the limits on the disk usage of a pod (`localStorageEviction` in `eviction_manager.go`). */

import { lookUp } from '../../base/values/lookUp.ts';
import type { Pod } from '../api/schema/pod.ts';
import { canonicalQuantity, nanosOf } from '../api/values/quantity.ts';
import { effectiveResources } from '../resources/effectiveResources.ts';
import type { DiskLayout } from './layout.ts';
import type { PodUsage } from './usage.ts';

/** Name of an exceeded limit in the metrics. */
export type LocalStorageLimit = 'emptydirfs.limit' | 'ephemeralpodfs.limit' | 'ephemeralcontainerfs.limit';

export interface LocalStorageViolation {
  readonly limit: LocalStorageLimit;
  readonly message: string;
}

const EPHEMERAL_STORAGE = 'ephemeral-storage';

const exceedsLimit = (usedBytes: number, limit: string): boolean => BigInt(usedBytes) * 1_000_000_000n > nanosOf(limit);

const isPositiveLimit = (limit: string | undefined): limit is string => limit !== undefined && nanosOf(limit) > 0n;

/** Whether a pod has any limit on its use of the node's disk. */
export function hasLocalStorageLimit({ spec }: Pod): boolean {
  const hasVolumeLimit = (spec.volumes ?? []).some(({ emptyDir }) => isPositiveLimit(emptyDir?.sizeLimit));
  return hasVolumeLimit || lookUp(effectiveResources(spec).limits, EPHEMERAL_STORAGE) !== undefined;
}

/**
 * Returns the first limit that a pod exceeds. Checks the pod's emptyDir volumes first, then the pod as a whole and then
 * its regular containers. The limit of the pod is the sum of its containers' limits, even if some containers have no
 * limit.
 */
export function localStorageViolation(
  pod: Pod,
  usage: PodUsage,
  layout: DiskLayout,
): LocalStorageViolation | undefined {
  return emptyDirViolation(pod, usage) ?? podViolation(pod, usage) ?? containerViolation(pod, usage, layout);
}

function emptyDirViolation({ spec: { volumes = [] } }: Pod, usage: PodUsage): LocalStorageViolation | undefined {
  for (const { name, emptyDir } of volumes) {
    const usedBytes = usage.volumes.find((each) => each.name === name)?.bytes;
    const sizeLimit = emptyDir?.sizeLimit;
    if (usedBytes === undefined || !isPositiveLimit(sizeLimit) || !exceedsLimit(usedBytes, sizeLimit)) continue;
    const message = `Usage of EmptyDir volume "${name}" exceeds the limit "${canonicalQuantity(sizeLimit)}". `;
    return { limit: 'emptydirfs.limit', message };
  }
  return undefined;
}

function podViolation({ spec }: Pod, usage: PodUsage): LocalStorageViolation | undefined {
  const limit = lookUp(effectiveResources(spec).limits, EPHEMERAL_STORAGE);
  if (limit === undefined || !exceedsLimit(usage.ephemeralStorageBytes ?? 0, limit)) return undefined;
  const message = `Pod ephemeral local storage usage exceeds the total limit of containers ${canonicalQuantity(limit)}. `;
  return { limit: 'ephemeralpodfs.limit', message };
}

function containerViolation({ spec }: Pod, usage: PodUsage, layout: DiskLayout): LocalStorageViolation | undefined {
  for (const { name, logs, rootfs } of usage.containers) {
    const container = spec.containers.find((each) => each.name === name);
    const limit = lookUp(container?.resources?.limits, EPHEMERAL_STORAGE);
    const usedBytes = (logs?.bytes ?? 0) + (layout === 'single' ? (rootfs?.bytes ?? 0) : 0);
    if (!isPositiveLimit(limit) || !exceedsLimit(usedBytes, limit)) continue;
    const message = `Container ${name} exceeded its local ephemeral storage limit "${canonicalQuantity(limit)}". `;
    return { limit: 'ephemeralcontainerfs.limit', message };
  }
  return undefined;
}
