/** Mounts of volumes, by what a kubelet's plugins for them are called (`pkg/volume/util/metrics.go`). */
import type { PortOutcome } from '../../../actors/portOutcome.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { OF_STORAGE } from '../buckets.ts';
import { alpha, type Histogram, type Registry } from '../registry.ts';

type Volume = NonNullable<Pod['spec']['volumes']>[number];
type Of<K extends PortOutcome['port']> = Extract<PortOutcome, { readonly port: K }>;

export class VolumeMetrics {
  readonly #operations: Histogram;
  readonly #mounts: Histogram;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** The start of the first attempt to mount each volume whose mounts have failed so far, by pod UID and name of the volume. */
  readonly #firstAttempts = new Map<string, Map<string, number>>();

  constructor(registry: Registry, clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#operations = registry.histogram(
      alpha('storage_operation_duration_seconds', 'How long the work on volumes takes.', [
        'volume_plugin',
        'operation_name',
        'status',
        'migrated',
      ]),
      OF_STORAGE,
    );
    this.#mounts = registry.histogram(
      alpha('volume_operation_total_seconds', 'Time from the first attempt to mount a volume until it is mounted.', [
        'plugin_name',
        'operation_name',
      ]),
      OF_STORAGE,
    );
  }

  mounted(answer: Of<'mountVolume'>): void {
    this.#done('volume_mount', answer);
    const { input, ms, failure } = answer;
    const { uid } = input.pod.metadata;
    const attempts = this.#firstAttempts.get(uid) ?? new Map<string, number>();
    const startedAt = attempts.get(input.volume) ?? this.#clock.monotonic() - ms;
    if (failure) {
      this.#firstAttempts.set(uid, attempts.set(input.volume, startedAt));
      return;
    }
    attempts.delete(input.volume);
    const seconds = (this.#clock.monotonic() - startedAt) / 1_000;
    this.#mounts.observe([pluginIn(input), 'overall_volume_mount'], seconds);
  }

  unmounted(answer: Of<'unmountVolume'>): void {
    this.#done('volume_unmount', answer);
  }

  /** Drops what is known of a pod that is gone. */
  forget(uid: string): void {
    this.#firstAttempts.delete(uid);
  }

  #done(operation: string, { input, ms, failure }: Of<'mountVolume'> | Of<'unmountVolume'>): void {
    this.#operations.observe([pluginIn(input), operation, failure ? 'fail-unknown' : 'success', 'false'], ms / 1_000);
  }
}

const pluginIn = ({ pod, volume }: Of<'mountVolume' | 'unmountVolume'>['input']): string =>
  pluginOf(pod.spec.volumes?.find(({ name }) => name === volume));

/** Those that are not their field in lower case with `kubernetes.io/` before it. */
const PLUGINS = new Map([
  ['emptyDir', 'kubernetes.io/empty-dir'],
  ['hostPath', 'kubernetes.io/host-path'],
  ['downwardAPI', 'kubernetes.io/downward-api'],
  ['gitRepo', 'kubernetes.io/git-repo'],
]);

/** The kubelet's plugin of a volume; `N/A` of one that is nowhere in its pod any more. */
export function pluginOf(volume: Volume | undefined): string {
  const [kind] = Object.keys(volume ?? {}).filter((key) => key !== 'name');
  return kind === undefined ? 'N/A' : (PLUGINS.get(kind) ?? `kubernetes.io/${kind.toLowerCase()}`);
}
