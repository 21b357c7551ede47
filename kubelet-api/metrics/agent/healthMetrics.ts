/** Counts the results of the checks behind `/healthz` (`component-base/metrics/prometheus/slis/metrics.go`). */
import type { CheckListener } from '../../listener/health.ts';
import { type Registry, stable } from '../registry.ts';

/** Creates the listener that is called after each check. */
export function registerHealthMetrics(registry: Registry): CheckListener {
  const lastResultGauge = registry.gauge(
    stable('kubernetes_healthcheck', 'Result of the last check: 1 if it passed.', ['name', 'type']),
  );
  const checksCounter = registry.counter(
    stable('kubernetes_healthchecks_total', 'Checks, by result.', ['name', 'type', 'status']),
  );
  return (name, isGood) => {
    lastResultGauge.set([name, 'healthz'], isGood ? 1 : 0);
    checksCounter.add([name, 'healthz', isGood ? 'success' : 'error']);
  };
}
