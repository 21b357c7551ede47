/** What a volume plugin is, and how a volume finds its own. */

import { NodeFailure } from '../base/failure.ts';
import type { Layout } from '../host/pods/layout.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import type { Volume } from '../kubernetes/api/schema/volume.ts';
import type { MountedVolume } from '../kubernetes/mountedVolume.ts';
import type { PodObjects, PodTokens } from '../kubernetes/objects/podObjects.ts';
import type { TrustBundles } from '../kubernetes/objects/trustBundles.ts';
import type { Mounter } from './mounter.ts';

/** Where volumes have what their pods get of a cluster; what is absent this node does not have. */
export interface ClusterContent {
  readonly objects?: PodObjects | undefined;
  readonly tokens?: PodTokens | undefined;
  readonly trustBundles?: TrustBundles | undefined;
}

/** A volume of a pod to be made available on the host. */
export interface VolumeMount extends ClusterContent {
  readonly pod: Pod;
  readonly volume: Volume;
  readonly layout: Layout;
  readonly mounter: Mounter;
  /** What the node can give its pods: quantities by resource. */
  readonly allocatable: Readonly<Record<string, string>>;
  /** The time, in milliseconds since the epoch. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/** A volume to be taken away: known by its folder alone, as the pod may have been forgotten meanwhile. */
export interface VolumeUnmount {
  readonly podUid: string;
  readonly volumeName: string;
  readonly layout: Layout;
  readonly mounter: Mounter;
  readonly signal: AbortSignal;
}

/** One kind of volume. Both calls are idempotent; they fail with a `NodeFailure`, or with a system call's own error. */
export interface VolumePlugin<Mounted extends MountedVolume = MountedVolume> {
  /** Kubernetes' name of the kind; its folder below `volumes` is named after it. */
  readonly name: string;
  readonly supports: (volume: Volume) => boolean;
  /** Makes the content available and says what containers get of it. */
  readonly mount: (request: VolumeMount) => Promise<Mounted>;
  /** Takes the volume away with everything that is the pod's own of it. */
  readonly unmount: (request: VolumeUnmount) => Promise<void>;
}

/** Finds the plugin of a volume; a kind that no plugin stands for fails with `FailedMount` and its name. */
export function pluginFor(plugins: readonly VolumePlugin[], volume: Volume): VolumePlugin {
  const found = plugins.find((plugin) => plugin.supports(volume));
  if (found !== undefined) return found;
  const kind = Object.keys(volume).find((key) => key !== 'name');
  const problem = kind === undefined ? 'it has no source' : `volumes of type ${kind} are not supported on this node`;
  throw new NodeFailure('FailedMount', `volume "${volume.name}" cannot be mounted: ${problem}`);
}
