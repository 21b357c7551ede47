/** Measures volume mounts, labelled with the kubelet's name for the volume plugin (`pkg/volume/util/metrics.go`). */
import type { PortOutcome } from '../../../actors/portOutcome.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { STORAGE_BUCKETS } from '../buckets.ts';
import { alpha, type Histogram, type Registry } from '../registry.ts';

type Volume = NonNullable<Pod['spec']['volumes']>[number];
type PortOutcomeFor<K extends PortOutcome['port']> = Extract<PortOutcome, { readonly port: K }>;

export class VolumeMetrics {
  readonly #operationHistogram: Histogram;
  readonly #mountHistogram: Histogram;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /**
   * For each volume that has not been mounted successfully yet, the time of the first attempt, keyed by pod UID and
   * volume name.
   */
  readonly #firstAttempts = new Map<string, Map<string, number>>();

  constructor(registry: Registry, clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#operationHistogram = registry.histogram(
      alpha('storage_operation_duration_seconds', 'Duration of operations on volumes.', [
        'volume_plugin',
        'operation_name',
        'status',
        'migrated',
      ]),
      STORAGE_BUCKETS,
    );
    this.#mountHistogram = registry.histogram(
      alpha('volume_operation_total_seconds', 'Time from the first attempt to mount a volume until it is mounted.', [
        'plugin_name',
        'operation_name',
      ]),
      STORAGE_BUCKETS,
    );
  }

  mounted(outcome: PortOutcomeFor<'mountVolume'>): void {
    this.#observeOperation('volume_mount', outcome);
    const { input, ms, failure } = outcome;
    const { uid } = input.pod.metadata;
    const firstAttempts = this.#firstAttempts.get(uid) ?? new Map<string, number>();
    const startedAt = firstAttempts.get(input.volume) ?? this.#clock.monotonic() - ms;
    if (failure) {
      this.#firstAttempts.set(uid, firstAttempts.set(input.volume, startedAt));
      return;
    }
    firstAttempts.delete(input.volume);
    const seconds = (this.#clock.monotonic() - startedAt) / 1_000;
    this.#mountHistogram.observe([volumePlugin(input), 'overall_volume_mount'], seconds);
  }

  unmounted(outcome: PortOutcomeFor<'unmountVolume'>): void {
    this.#observeOperation('volume_unmount', outcome);
  }

  forget(uid: string): void {
    this.#firstAttempts.delete(uid);
  }

  #observeOperation(
    operation: string,
    { input, ms, failure }: PortOutcomeFor<'mountVolume'> | PortOutcomeFor<'unmountVolume'>,
  ): void {
    this.#operationHistogram.observe(
      [volumePlugin(input), operation, failure ? 'fail-unknown' : 'success', 'false'],
      ms / 1_000,
    );
  }
}

const volumePlugin = ({ pod, volume }: PortOutcomeFor<'mountVolume' | 'unmountVolume'>['input']): string =>
  pluginName(pod.spec.volumes?.find(({ name }) => name === volume));

/** Plugin names that are not simply `kubernetes.io/` followed by the volume's field in lower case. */
const PLUGIN_NAMES = new Map([
  ['emptyDir', 'kubernetes.io/empty-dir'],
  ['hostPath', 'kubernetes.io/host-path'],
  ['downwardAPI', 'kubernetes.io/downward-api'],
  ['gitRepo', 'kubernetes.io/git-repo'],
]);

/** Returns the kubelet's name for the plugin of a volume, or `N/A` if the pod no longer has the volume. */
export function pluginName(volume: Volume | undefined): string {
  const [kind] = Object.keys(volume ?? {}).filter((key) => key !== 'name');
  return kind === undefined ? 'N/A' : (PLUGIN_NAMES.get(kind) ?? `kubernetes.io/${kind.toLowerCase()}`);
}
