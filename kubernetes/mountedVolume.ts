import type { Failure } from '../base/failure.ts';

/** The result of mounting a volume, which is needed to create the pod's containers. */
export type MountedVolume =
  /** A directory or file of the host that is mounted into containers. */
  | MountedPath
  /** An image whose content the runtime mounts. `imageRef` identifies it in the runtime. */
  | { readonly kind: 'image'; readonly imageRef: string }
  /** A block device of the host (volumeMode `Block`), which has no file system to mount. */
  | { readonly kind: 'device'; readonly hostPath: string; readonly readOnly: boolean };

export interface MountedPath {
  readonly kind: 'path';
  readonly hostPath: string;
  /** Whether this agent created the directory on a local disk, in which case reading it cannot hang. */
  readonly own?: true;
  /**
   * Time at which the content should be refreshed, in milliseconds since the epoch. Undefined if the content does not
   * expire.
   */
  readonly renewAt?: number;
  /** Time at which the first of the volume's tokens expires, in milliseconds since the epoch. */
  readonly goodUntil?: number;
  /** Failure of the last refresh. Undefined if that refresh succeeded. */
  readonly failure?: Failure;
}

/** The mounted volumes of a pod, by volume name. */
export type MountedVolumes = Readonly<Record<string, MountedVolume>>;
