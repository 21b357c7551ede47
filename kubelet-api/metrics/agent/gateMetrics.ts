/** The feature gates (`staging/src/k8s.io/component-base/metrics/prometheus/feature/metrics.go`). */
import { beta, type Registry } from '../registry.ts';

export interface ShownGate {
  readonly name: string;
  readonly stage: 'ALPHA' | 'BETA';
  readonly isEnabled: boolean;
}

/** Shows the gates that the node acts on. Every other gate has its default of Kubernetes, or has no effect. */
export function gateMetrics(registry: Registry, gates: readonly ShownGate[]): void {
  const enabled = registry.gauge(
    beta('kubernetes_feature_enabled', 'Whether a feature gate is enabled.', ['name', 'stage']),
  );
  for (const { name, stage, isEnabled } of gates) enabled.set([name, stage], isEnabled ? 1 : 0);
}
