import type { Failure } from '../base/failure.ts';

/** What a volume that is ready hands to the containers of its pod. */
export type MountedVolume =
  /** A directory or file of the host, which is mounted. */
  | MountedPath
  /** An image, by the reference that the runtime knows it by: the runtime mounts its content. */
  | { readonly kind: 'image'; readonly imageRef: string }
  /** A block device of the host (volumeMode `Block`), which is no file system to be mounted. */
  | { readonly kind: 'device'; readonly hostPath: string; readonly readOnly: boolean };

export interface MountedPath {
  readonly kind: 'path';
  readonly hostPath: string;
  /** This agent made it, on a disk of the node: whoever looks into it gets an answer. */
  readonly own?: true;
  /** When what it shows should be had anew, in milliseconds since the epoch; absent: not by its age. */
  readonly renewAt?: number;
  /** Until when the first of its tokens is good, in milliseconds since the epoch. */
  readonly goodUntil?: number;
  /** Why one of them could not be had anew when that was due. */
  readonly failure?: Failure;
}

/** Those of a pod that are ready, by the names of the volumes. */
export type MountedVolumes = Readonly<Record<string, MountedVolume>>;
