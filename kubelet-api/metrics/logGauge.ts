import type { LogUsage } from '../../stats/pods/logUsages.ts';
import { alpha, type Registry } from './registry.ts';

/**
 * Registers the gauge of container logs' disk usage, which is read at each scrape
 * (`pkg/kubelet/metrics/collectors/log_metrics.go`).
 */
export function registerLogGauge(registry: Registry, measureLogUsages: () => Promise<readonly LogUsage[]>): void {
  const usedBytes = registry.gauge(
    alpha('kubelet_container_log_filesystem_used_bytes', "Disk usage of a container's log, in bytes.", [
      'uid',
      'namespace',
      'pod',
      'container',
    ]),
  );
  registry.collect(async () => {
    const logUsages = await measureLogUsages();
    usedBytes.clear();
    for (const { uid, namespace, pod, container, bytes } of logUsages)
      usedBytes.set([uid, namespace, pod, container], bytes);
  });
}
