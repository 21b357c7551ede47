import type { NodeCounts } from '../../../machines/node/counts.ts';
import { alpha, type Registry } from '../registry.ts';

/**
 * Registers the gauges for the times of the host's last shutdown, and returns the function that updates them on each
 * scrape.
 */
export function registerShutdownMetrics(registry: Registry): (counts: Pick<NodeCounts, 'lastShutdown'>) => void {
  const startGauge = registry.gauge(
    alpha(
      'kubelet_graceful_shutdown_start_time_seconds',
      'Start of the last graceful shutdown of the host, in seconds since the epoch. 0 if there was none.',
    ),
  );
  const endGauge = registry.gauge(
    alpha(
      'kubelet_graceful_shutdown_end_time_seconds',
      'End of the last graceful shutdown of the host, in seconds since the epoch. 0 if it has not ended.',
    ),
  );
  return ({ lastShutdown }) => {
    startGauge.set([], toSeconds(lastShutdown?.startedAt));
    endGauge.set([], toSeconds(lastShutdown?.endedAt));
  };
}

const toSeconds = (timestampMs = 0): number => Math.trunc(timestampMs / 1_000);
