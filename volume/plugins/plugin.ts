/** Defines the interface of volume plugins, and selects the plugin of a volume. */

import { NodeFailure } from '../../base/failure.ts';
import type { Layout } from '../../host/pods/layout.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { Volume } from '../../kubernetes/api/schema/volume.ts';
import type { MountedVolume } from '../../kubernetes/mountedVolume.ts';
import type { PodObjects, PodTokens } from '../../kubernetes/objects/podObjects.ts';
import type { TrustBundles } from '../../kubernetes/objects/trustBundles.ts';
import type { Mounter } from '../mount/mounter.ts';

/** Providers of the cluster objects that volumes need. A provider that is not available on this node is undefined. */
export interface ClusterContent {
  readonly objects?: PodObjects | undefined;
  readonly tokens?: PodTokens | undefined;
  readonly trustBundles?: TrustBundles | undefined;
}

/** Request to mount a volume of a pod on the host. */
export interface VolumeMount extends ClusterContent {
  readonly pod: Pod;
  readonly volume: Volume;
  readonly layout: Layout;
  readonly mounter: Mounter;
  /** Allocatable resources of the node, as quantities by resource name. */
  readonly allocatable: Readonly<Record<string, string>>;
  /** Whether a tmpfs can be mounted with `noswap`, so that its contents are never swapped to disk. */
  readonly tmpfsNoswap?: boolean;
  /** Current time in milliseconds since the epoch. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/**
 * Request to unmount a volume. It identifies the volume by its directory, because the pod may be unknown to the agent.
 */
export interface VolumeUnmount {
  readonly podUid: string;
  readonly volumeName: string;
  readonly layout: Layout;
  readonly mounter: Mounter;
  readonly signal: AbortSignal;
}

/**
 * Plugin for one type of volume. `mount` and `unmount` are idempotent and fail with a `NodeFailure` or a system error.
 */
export interface VolumePlugin<Mounted extends MountedVolume = MountedVolume> {
  /** Name of the volume type in Kubernetes, after which the volume's directory below `volumes` is named. */
  readonly name: string;
  readonly supportsVolume: (volume: Volume) => boolean;
  /** Mounts the volume and returns the path, image or device that its containers get. */
  readonly mount: (request: VolumeMount) => Promise<Mounted>;
  /** Unmounts the volume and deletes its files unless they belong to the host. */
  readonly unmount: (request: VolumeUnmount) => Promise<void>;
}

/** Returns the plugin for a volume. Fails with `FailedMount` if the type is not supported. */
export function findPlugin(plugins: readonly VolumePlugin[], volume: Volume): VolumePlugin {
  const plugin = plugins.find((candidate) => candidate.supportsVolume(volume));
  if (plugin !== undefined) return plugin;
  const kind = Object.keys(volume).find((key) => key !== 'name');
  const problem = kind === undefined ? 'it has no source' : `volumes of type ${kind} are not supported on this node`;
  throw new NodeFailure('FailedMount', `volume "${volume.name}" cannot be mounted: ${problem}`);
}
