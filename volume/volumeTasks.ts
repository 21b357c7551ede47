/** Runs the volume operations that must not follow symbolic links out of the volume. */

import { messageOf } from '../base/failure.ts';
import { readFileWithin } from '../host/files/safeOpen.ts';
import type { MountedPath } from '../kubernetes/mountedVolume.ts';
import { bindSubPath } from './mount/bindSubPath.ts';

export type VolumeTask = Pick<MountedPath, 'hostPath' | 'own'> &
  (
    | /** Reads a file in a volume, up to a maximum size in bytes. */
    { readonly kind: 'read'; readonly path: string; readonly maxBytes: number }
    /** Bind-mounts a subPath at a path that belongs to the pod (C26). */
    | { readonly kind: 'bind'; readonly subPath: string; readonly target: string }
  );

export interface VolumeTaskResult {
  /** Error message if the task failed. */
  readonly failure?: string;
  /** Contents of the file. Undefined if it does not exist. */
  readonly text?: string | undefined;
}

/** Runs tasks sequentially and returns their results in the same order. */
export async function runTasks(tasks: readonly VolumeTask[], signal: AbortSignal): Promise<VolumeTaskResult[]> {
  const results: VolumeTaskResult[] = [];
  for (const task of tasks) results.push(await runTask(task, signal));
  return results;
}

async function runTask(task: VolumeTask, signal: AbortSignal): Promise<VolumeTaskResult> {
  try {
    if (task.kind === 'read') return { text: await readFileWithin(task.hostPath, task.path, task.maxBytes) };
    await bindSubPath({ ...task, signal });
    return {};
  } catch (error) {
    signal.throwIfAborted();
    return { failure: messageOf(error) };
  }
}
