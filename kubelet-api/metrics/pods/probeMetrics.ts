/** Counts probe attempts by container (`pkg/kubelet/prober`). The series of a pod are removed with the pod. */
import type { PortOutcome } from '../../../actors/portOutcome.ts';
import type { ProbeKind } from '../../../kubernetes/status/view.ts';
import type { ProbeResult } from '../../../machines/shared/ports.ts';
import { DEFAULT_BUCKETS } from '../buckets.ts';
import { alpha, beta, type Counter, type Histogram, type Registry } from '../registry.ts';
import type { TrackedPods } from './trackedPods.ts';

const PROBE_KIND_LABELS: Readonly<Record<ProbeKind, string>> = {
  startup: 'Startup',
  liveness: 'Liveness',
  readiness: 'Readiness',
};
const RESULT_LABELS: Readonly<Record<ProbeResult['result'], string>> = {
  success: 'successful',
  warning: 'successful',
  failure: 'failed',
  error: 'unknown',
};

type LabelValues = readonly string[];

export class ProbeMetrics {
  readonly #trackedPods: Pick<TrackedPods, 'get'>;
  readonly #probesCounter: Counter;
  readonly #durationHistogram: Histogram;
  /** The labels of the counter's series, by pod UID. The labels of the histogram are derived from them. */
  readonly #labelsByPod = new Map<string, Map<string, LabelValues>>();

  constructor(registry: Registry, pods: Pick<TrackedPods, 'get'>) {
    this.#trackedPods = pods;
    const containerLabels = ['container', 'pod', 'namespace'];
    this.#probesCounter = registry.counter(
      beta('prober_probe_total', 'Probe attempts of a container, by result.', [
        'probe_type',
        'result',
        ...containerLabels,
        'pod_uid',
      ]),
    );
    this.#durationHistogram = registry.histogram(
      alpha('prober_probe_duration_seconds', 'Duration of successful probes of a container.', [
        'probe_type',
        ...containerLabels,
      ]),
      DEFAULT_BUCKETS,
    );
  }

  /** Called after each probe attempt. */
  tried({ input, output }: Extract<PortOutcome, { readonly port: 'runProbe' }>): void {
    const { uid, name, namespace } = input.pod.metadata;
    // Ignore a result that arrives after its pod was removed, because it would create a series that is never removed.
    if (output === undefined || this.#trackedPods.get(uid) === undefined) return;
    const result = RESULT_LABELS[output.result];
    const { total, duration } = this.#cacheLabels(uid, [
      PROBE_KIND_LABELS[input.kind],
      result,
      input.container,
      name,
      namespace,
      uid,
    ]);
    this.#probesCounter.add(total);
    if (result !== 'failed') this.#durationHistogram.observe(duration, (output.at - output.startedAt) / 1_000);
  }

  /** Removes the series of a pod. */
  forget(uid: string): void {
    for (const labels of this.#labelsByPod.get(uid)?.values() ?? []) {
      this.#probesCounter.remove(labels);
      this.#durationHistogram.remove(durationLabels(labels));
    }
    this.#labelsByPod.delete(uid);
  }

  /** Removes the series of all pods that are no longer tracked. */
  sweep(): void {
    for (const uid of this.#labelsByPod.keys()) if (this.#trackedPods.get(uid) === undefined) this.forget(uid);
  }

  #cacheLabels(uid: string, total: LabelValues): { readonly total: LabelValues; readonly duration: LabelValues } {
    const podLabels = this.#labelsByPod.get(uid) ?? new Map<string, LabelValues>();
    this.#labelsByPod.set(uid, podLabels);
    const key = total.slice(0, 3).join(' ');
    const labels = podLabels.get(key) ?? total;
    podLabels.set(key, labels);
    return { total: labels, duration: durationLabels(labels) };
  }
}

const durationLabels = ([kind = '', , ...others]: LabelValues): LabelValues => [kind, ...others.slice(0, 3)];
