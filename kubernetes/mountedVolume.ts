import type { Failure } from '../base/failure.ts';

/** The result of mounting a volume, which the pod's containers use. */
export type MountedVolume =
  /** A directory or file of the host, to be mounted into containers. */
  | MountedPath
  /** An image, by the reference that the runtime uses. The runtime mounts its content. */
  | { readonly kind: 'image'; readonly imageRef: string }
  /** A block device of the host (volumeMode `Block`), which has no file system to mount. */
  | { readonly kind: 'device'; readonly hostPath: string; readonly readOnly: boolean };

export interface MountedPath {
  readonly kind: 'path';
  readonly hostPath: string;
  /** Whether this agent created the directory on a local disk, in which case reading it cannot hang. */
  readonly own?: true;
  /** When the content should be refreshed, in milliseconds since the epoch. Undefined if it does not expire. */
  readonly renewAt?: number;
  /** When the first of the volume's tokens expires, in milliseconds since the epoch. */
  readonly goodUntil?: number;
  /** Failure of the last refresh. Undefined if that refresh succeeded. */
  readonly failure?: Failure;
}

/** The ready volumes of a pod, by volume name. */
export type MountedVolumes = Readonly<Record<string, MountedVolume>>;
