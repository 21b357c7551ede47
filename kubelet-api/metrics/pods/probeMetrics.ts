/** Counts probe attempts by container (`pkg/kubelet/prober`). The series of a pod are removed with the pod. */
import type { PortOutcome } from '../../../actors/portOutcome.ts';
import type { ProbeKind } from '../../../kubernetes/status/view.ts';
import type { ProbeResult } from '../../../machines/shared/ports.ts';
import { DEFAULT_BUCKETS } from '../buckets.ts';
import { alpha, beta, type Counter, type Histogram, type Registry } from '../registry.ts';
import type { TrackedPods } from './trackedPods.ts';

const KINDS: Readonly<Record<ProbeKind, string>> = { startup: 'Startup', liveness: 'Liveness', readiness: 'Readiness' };
const RESULTS: Readonly<Record<ProbeResult['result'], string>> = {
  success: 'successful',
  warning: 'successful',
  failure: 'failed',
  error: 'unknown',
};

type Labels = readonly string[];

export class ProbeMetrics {
  readonly #pods: Pick<TrackedPods, 'get'>;
  readonly #total: Counter;
  readonly #duration: Histogram;
  /** The labels of the counter's series, by pod UID. The labels of the histogram are derived from them. */
  readonly #labels = new Map<string, Map<string, Labels>>();

  constructor(registry: Registry, pods: Pick<TrackedPods, 'get'>) {
    this.#pods = pods;
    const containerLabels = ['container', 'pod', 'namespace'];
    this.#total = registry.counter(
      beta('prober_probe_total', 'Probe attempts of a container, by result.', [
        'probe_type',
        'result',
        ...containerLabels,
        'pod_uid',
      ]),
    );
    this.#duration = registry.histogram(
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
    // A result that arrives after its pod was removed would create a series that is never removed.
    if (output === undefined || this.#pods.get(uid) === undefined) return;
    const result = RESULTS[output.result];
    const { total, duration } = this.#labelsOf(uid, [KINDS[input.kind], result, input.container, name, namespace, uid]);
    this.#total.add(total);
    if (result !== 'failed') this.#duration.observe(duration, (output.at - output.beganAt) / 1_000);
  }

  /** Removes the series of a pod. */
  forget(uid: string): void {
    for (const labels of this.#labels.get(uid)?.values() ?? []) {
      this.#total.remove(labels);
      this.#duration.remove(durationLabels(labels));
    }
    this.#labels.delete(uid);
  }

  /** Removes the series of all pods that are no longer tracked. */
  sweep(): void {
    for (const uid of this.#labels.keys()) if (this.#pods.get(uid) === undefined) this.forget(uid);
  }

  #labelsOf(uid: string, total: Labels): { readonly total: Labels; readonly duration: Labels } {
    const podLabels = this.#labels.get(uid) ?? new Map<string, Labels>();
    this.#labels.set(uid, podLabels);
    const key = total.slice(0, 3).join(' ');
    const labels = podLabels.get(key) ?? total;
    podLabels.set(key, labels);
    return { total: labels, duration: durationLabels(labels) };
  }
}

const durationLabels = ([kind = '', , ...others]: Labels): Labels => [kind, ...others.slice(0, 3)];
