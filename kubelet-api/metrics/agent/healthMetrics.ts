/** Counts the results of the checks behind `/healthz` (`component-base/metrics/prometheus/slis/metrics.go`). */
import type { CheckListener } from '../../listener/health.ts';
import { type Registry, stable } from '../registry.ts';

/** Creates the listener that is called after each check. */
export function healthMetrics(registry: Registry): CheckListener {
  const last = registry.gauge(
    stable('kubernetes_healthcheck', 'Result of the last check: 1 if it passed.', ['name', 'type']),
  );
  const total = registry.counter(
    stable('kubernetes_healthchecks_total', 'Checks, by result.', ['name', 'type', 'status']),
  );
  return (name, isGood) => {
    last.set([name, 'healthz'], isGood ? 1 : 0);
    total.add([name, 'healthz', isGood ? 'success' : 'error']);
  };
}
