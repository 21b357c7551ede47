/**
 * Registers the metric that reports feature gates
 * (`staging/src/k8s.io/component-base/metrics/prometheus/feature/metrics.go`).
 */
import { beta, type Registry } from '../registry.ts';

export interface FeatureGate {
  readonly name: string;
  readonly stage: 'ALPHA' | 'BETA' | 'DEPRECATED';
  readonly isEnabled: boolean;
}

/**
 * Registers the gauge that reports `gates`, i.e. the feature gates that take effect on this node. All other gates are
 * omitted, because they have their Kubernetes default or no effect here.
 */
export function registerGateMetrics(registry: Registry, gates: readonly FeatureGate[]): void {
  const enabledGauge = registry.gauge(
    beta('kubernetes_feature_enabled', 'Whether a feature gate is enabled.', ['name', 'stage']),
  );
  for (const { name, stage, isEnabled } of gates) enabledGauge.set([name, stage], isEnabled ? 1 : 0);
}
