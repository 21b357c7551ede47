/** Mounts of volumes, by what a kubelet's plugins for them are called (`pkg/volume/util/metrics.go`). */
import type { PortAnswer } from '../../actors/portAnswer.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { OF_STORAGE } from './buckets.ts';
import { alpha, type Histogram, type Registry } from './registry.ts';

type Volume = NonNullable<Pod['spec']['volumes']>[number];
type Of<K extends PortAnswer['port']> = Extract<PortAnswer, { readonly port: K }>;

export class VolumeMetrics {
  readonly #operations: Histogram;

  constructor(registry: Registry) {
    this.#operations = registry.histogram(
      alpha('storage_operation_duration_seconds', 'How long the work on volumes takes.', [
        'volume_plugin',
        'operation_name',
        'status',
        'migrated',
      ]),
      OF_STORAGE,
    );
  }

  mounted(answer: Of<'mountVolume'>): void {
    this.#done('volume_mount', answer);
  }

  unmounted(answer: Of<'unmountVolume'>): void {
    this.#done('volume_unmount', answer);
  }

  #done(operation: string, { input, ms, failure }: Of<'mountVolume'> | Of<'unmountVolume'>): void {
    const plugin = pluginOf(input.pod.spec.volumes?.find(({ name }) => name === input.volume));
    this.#operations.observe([plugin, operation, failure ? 'fail-unknown' : 'success', 'false'], ms / 1_000);
  }
}

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
