import type { LogUsage } from '../../stats/pods/logUsages.ts';
import { alpha, type Registry } from './registry.ts';

/** What the logs of containers take on disk, looked up for each scrape (`pkg/kubelet/metrics/collectors/log_metrics.go`). */
export function logGauge(registry: Registry, usages: () => Promise<readonly LogUsage[]>): void {
  const used = registry.gauge(
    alpha('kubelet_container_log_filesystem_used_bytes', "How many bytes a container's log takes on disk.", [
      'uid',
      'namespace',
      'pod',
      'container',
    ]),
  );
  registry.collect(async () => {
    const all = await usages();
    used.clear();
    for (const { uid, namespace, pod, container, bytes } of all) used.set([uid, namespace, pod, container], bytes);
  });
}
