/** Implements the eviction ports, which measure the node's resources and the usage of each pod. */

import { unlessAborted } from '../../../base/async/unlessAborted.ts';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { DiskLayout } from '../../../kubernetes/eviction/layout.ts';
import type { Observations } from '../../../kubernetes/eviction/pressure.ts';
import type { MeasuredResource, PodUsages } from '../../../kubernetes/eviction/usage.ts';
import type { PortServices } from '../../boundary.ts';
import { withTimeout } from '../withTimeout.ts';

/** Measures the resources of the host. Each measurement reads current values, and rejects if it would be incomplete. */
export interface ResourceMeter {
  /**
   * Measures the available amount of each of the node's resources, but not the usage of each pod. Signals that the host
   * cannot measure are omitted.
   */
  measureNode(signal: AbortSignal): Promise<{ readonly layout: DiskLayout; readonly observations: Observations }>;
  /** Reads only how much memory is left, which is cheaper than `measureNode`. */
  readMemory(): Observations;
  /** Measures the disk usage of the pods with these UIDs. */
  measureDiskUsage(uids: readonly string[], signal: AbortSignal): Promise<PodUsages>;
  /**
   * Measures the usage of a resource by the pods with these UIDs. Pods without running containers are omitted. The usage
   * of other resources may be missing.
   */
  measurePods(uids: readonly string[], resource: MeasuredResource, signal: AbortSignal): Promise<PodUsages>;
}

interface EvictionDependencies {
  readonly resourceMeter?: ResourceMeter | undefined;
  readonly clock: Clock;
}

/** Time limit of a measurement, in milliseconds, including the time to measure the files of all pods. */
const MEASUREMENT_LIMIT_MS = 15_000;

export function evictionServices({
  resourceMeter,
  clock,
}: EvictionDependencies): Pick<PortServices, 'measureResources' | 'measurePods'> {
  const measure = async <T>(act: (meter: ResourceMeter, signal: AbortSignal) => Promise<T>, signal: AbortSignal) => {
    if (resourceMeter === undefined)
      throw new NodeFailure('Unimplemented', 'the resources of this node are not measured');
    const actWithin = (limit: AbortSignal) => unlessAborted(act(resourceMeter, limit), limit);
    return withTimeout(actWithin, { clock, timeoutMs: MEASUREMENT_LIMIT_MS, signal }).catch((cause: unknown) => {
      throw new NodeFailure('FailedRead', `cannot measure the resources of the node: ${messageOf(cause)}`, { cause });
    });
  };
  return {
    measureResources: async ({ limitedUids }, { signal }) => {
      const [{ layout, observations }, usages] = await measure(
        (meter, limit) =>
          Promise.all([
            meter.measureNode(limit),
            limitedUids.length > 0 ? meter.measureDiskUsage(limitedUids, limit) : {},
          ]),
        signal,
      );
      return { layout, observations, usages, at: clock.now(), uptimeMs: clock.monotonic() };
    },
    measurePods: async ({ uids, resource }, { signal }) => {
      const usages = await measure((meter, limit) => meter.measurePods(uids, resource, limit), signal);
      return { usages, at: clock.now() };
    },
  };
}
