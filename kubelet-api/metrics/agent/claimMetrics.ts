/** Registers the metrics of dynamic resource allocation (`pkg/kubelet/metrics/metrics.go`). */
import type { PortOutcome } from '../../../actors/portOutcome.ts';
import type { NodeCounts } from '../../../machines/node/counts.ts';
import { CLAIM_BUCKETS } from '../buckets.ts';
import { alpha, type Registry } from '../registry.ts';

/** Label value for the total number of prepared claims, regardless of driver. */
const ANY_DRIVER = '<any>';

export interface ClaimMetrics {
  /** Called with the outcome of each port call. */
  readonly recordPortOutcome: (outcome: PortOutcome) => void;
  /** Updates the gauge on each scrape. */
  readonly update: (counts: Pick<NodeCounts, 'claims'>) => void;
}

export function registerClaimMetrics(registry: Registry): ClaimMetrics {
  const operations = registry.histogram(
    alpha('dra_operations_duration_seconds', 'Time to prepare or unprepare all claims of a pod.', [
      'operation_name',
      'is_error',
    ]),
    CLAIM_BUCKETS,
  );
  const claimsInUse = registry.gauge(
    alpha('dra_resource_claims_in_use', 'Prepared claims by driver, and of all drivers.', ['driver_name']),
  );
  return {
    recordPortOutcome: ({ port, ms, failure }) => {
      const operation = OPERATION_NAMES.get(port);
      if (operation !== undefined) operations.observe([operation, String(failure !== undefined)], ms / 1_000);
    },
    update: ({ claims }) => {
      claimsInUse.clear();
      // A driver without prepared claims has no series, so that the series of removed drivers do not accumulate.
      for (const [driver, count] of claims) claimsInUse.set([driver ?? ANY_DRIVER], count);
    },
  };
}

/** The kubelet's operation names, keyed by the port that performs the operation. */
const OPERATION_NAMES: ReadonlyMap<PortOutcome['port'], string> = new Map([
  ['prepareClaims', 'PrepareResources'],
  ['unprepareClaims', 'UnprepareResources'],
]);
