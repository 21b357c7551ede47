import type { MountPoint } from '../host/files/mountPoint.ts';
import type { MountRequest } from './mount.ts';
import type { Ownership } from './ownership.ts';
import type { VolumeAnswer, VolumeTask } from './volumeTasks.ts';

/**
 * What is mounted for volumes, and what is done in them with more care than a call of the file system takes: by the host,
 * or by a model of it. What does not answer is given up with its signal.
 */
export interface Mounter {
  /** Mounts a file system; fails with `FailedMount`. */
  mount(request: MountRequest): Promise<void>;
  /** Unmounts what is mounted at a path; fails with `FailedUnmount`. Unmounting what is not mounted succeeds. */
  unmount(target: string, signal: AbortSignal): Promise<void>;
  /** What is mounted at a path itself: of several mounts the visible one, undefined when there is none. */
  mountAt(directory: string, signal: AbortSignal): Promise<MountPoint | undefined>;
  /** Does tasks in volumes, one after the other, and gives their answers in this order. */
  inVolumes(tasks: readonly VolumeTask[], signal: AbortSignal): Promise<readonly VolumeAnswer[]>;
  /** Changes the group and rights of a tree. */
  setOwnership(root: string, ownership: Ownership): Promise<void>;
  /** What a path of a hostPath volume leads to, as the kernel numbers kinds of files; undefined when there is nothing. */
  kindOf(target: string, signal: AbortSignal): Promise<number | undefined>;
  /** Makes what a hostPath volume names: a directory of rights 0755 with all above it, or an empty file. */
  make(kind: 'directory' | 'file', target: string, signal: AbortSignal): Promise<void>;
}
