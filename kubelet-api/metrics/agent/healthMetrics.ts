/** How the checks of the node's health come out when somebody asks for them (`component-base/metrics/prometheus/slis/metrics.go`). */
import type { CheckListener } from '../../listener/health.ts';
import { type Registry, stable } from '../registry.ts';

/** Told of each check that was made for `/healthz`. */
export function healthMetrics(registry: Registry): CheckListener {
  const last = registry.gauge(
    stable('kubernetes_healthcheck', 'Whether a check came out well last.', ['name', 'type']),
  );
  const total = registry.counter(
    stable('kubernetes_healthchecks_total', 'How often checks were made, by how they came out.', [
      'name',
      'type',
      'status',
    ]),
  );
  return (name, isGood) => {
    last.set([name, 'healthz'], isGood ? 1 : 0);
    total.add([name, 'healthz', isGood ? 'success' : 'error']);
  };
}
