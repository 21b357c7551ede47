/** The tries of probes, by container (`pkg/kubelet/prober`): of pods that are gone nothing is left. */
import type { PortOutcome } from '../../../actors/portOutcome.ts';
import type { ProbeKind } from '../../../kubernetes/status/view.ts';
import type { ProbeResult } from '../../../machines/shared/ports.ts';
import { USUAL } from '../buckets.ts';
import { alpha, beta, type Counter, type Histogram, type Registry } from '../registry.ts';
import type { FollowedPods } from './followedPods.ts';

const KINDS: Readonly<Record<ProbeKind, string>> = { startup: 'Startup', liveness: 'Liveness', readiness: 'Readiness' };
const RESULTS: Readonly<Record<ProbeResult['result'], string>> = {
  success: 'successful',
  warning: 'successful',
  failure: 'failed',
  error: 'unknown',
};

type Labels = readonly string[];

export class ProbeMetrics {
  readonly #pods: Pick<FollowedPods, 'of'>;
  readonly #total: Counter;
  readonly #duration: Histogram;
  /** The labels that there are series of, by the UIDs of their pods: those of the counter, and the first of them for the other. */
  readonly #kept = new Map<string, Map<string, Labels>>();

  constructor(registry: Registry, pods: Pick<FollowedPods, 'of'>) {
    this.#pods = pods;
    const ofContainer = ['container', 'pod', 'namespace'];
    this.#total = registry.counter(
      beta('prober_probe_total', 'Tries of the probes of a container, by result.', [
        'probe_type',
        'result',
        ...ofContainer,
        'pod_uid',
      ]),
    );
    this.#duration = registry.histogram(
      alpha('prober_probe_duration_seconds', 'How long the probes of a container take that succeed.', [
        'probe_type',
        ...ofContainer,
      ]),
      USUAL,
    );
  }

  /** A probe was tried. */
  tried({ input, output }: Extract<PortOutcome, { readonly port: 'runProbe' }>): void {
    const { uid, name, namespace } = input.pod.metadata;
    // What comes later than the end of its pod would stay for ever.
    if (output === undefined || this.#pods.of(uid) === undefined) return;
    const result = RESULTS[output.result];
    const { total, duration } = this.#labelsOf(uid, [KINDS[input.kind], result, input.container, name, namespace, uid]);
    this.#total.add(total);
    if (result !== 'failed') this.#duration.observe(duration, (output.at - output.beganAt) / 1_000);
  }

  /** Its pod is gone. */
  forget(uid: string): void {
    for (const labels of this.#kept.get(uid)?.values() ?? []) {
      this.#total.remove(labels);
      this.#duration.remove(durationLabels(labels));
    }
    this.#kept.delete(uid);
  }

  /** Forgets the pods that are gone, whoever has told of it. */
  sweep(): void {
    for (const uid of this.#kept.keys()) if (this.#pods.of(uid) === undefined) this.forget(uid);
  }

  #labelsOf(uid: string, total: Labels): { readonly total: Labels; readonly duration: Labels } {
    const kept = this.#kept.get(uid) ?? new Map<string, Labels>();
    this.#kept.set(uid, kept);
    const key = total.slice(0, 3).join(' ');
    const known = kept.get(key) ?? total;
    kept.set(key, known);
    return { total: known, duration: durationLabels(known) };
  }
}

const durationLabels = ([kind = '', , ...others]: Labels): Labels => [kind, ...others.slice(0, 3)];
