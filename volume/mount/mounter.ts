import type { MountPoint } from '../../host/files/mountPoint.ts';
import type { Ownership } from '../ownership.ts';
import type { VolumeTask, VolumeTaskResult } from '../volumeTasks.ts';
import type { MountRequest } from './mount.ts';

/**
 * Mounts file systems and accesses the contents of volumes. Implemented for the host and for simulations. An operation
 * that hangs is abandoned when its signal aborts.
 */
export interface Mounter {
  /** Mounts a file system. Fails with `FailedMount`. */
  mount(request: MountRequest): Promise<void>;
  /** Unmounts a path. Fails with `FailedUnmount`. Succeeds if nothing is mounted there. */
  unmount(target: string, signal: AbortSignal): Promise<void>;
  /** Returns the topmost mount at exactly this path, or undefined if there is none. */
  mountAt(directory: string, signal: AbortSignal): Promise<MountPoint | undefined>;
  /** Runs tasks sequentially and returns their results in the same order. */
  runTasks(tasks: readonly VolumeTask[], signal: AbortSignal): Promise<readonly VolumeTaskResult[]>;
  /** Changes the group and the mode of a directory tree. */
  setOwnership(root: string, ownership: Ownership): Promise<void>;
  /** Returns the file type bits (S_IFMT) of a hostPath volume's target, or undefined if it does not exist. */
  fileTypeOf(target: string, signal: AbortSignal): Promise<number | undefined>;
  /** Creates a hostPath volume's target: a directory with mode 0755 and its parents, or an empty file. */
  create(kind: 'directory' | 'file', target: string, signal: AbortSignal): Promise<void>;
}
