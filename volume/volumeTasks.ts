/** What is done in volumes with more care than a program of the host has. */

import { messageOf } from '../base/failure.ts';
import { readInside } from '../host/files/safeOpen.ts';
import type { MountedPath } from '../kubernetes/mountedVolume.ts';
import { bindSubPath } from './bindSubPath.ts';

export type VolumeTask = Pick<MountedPath, 'hostPath' | 'own'> &
  (
    | /** Reads a file in a volume, of so many bytes at most. */
    { readonly kind: 'read'; readonly path: string; readonly largest: number }
    /** Mounts a part of a volume at a path of the pod's own (C26). */
    | { readonly kind: 'bind'; readonly subPath: string; readonly target: string }
  );

export interface VolumeAnswer {
  /** Why it could not be done. */
  readonly failure?: string;
  /** What was read; absent where there is no such file. */
  readonly text?: string | undefined;
}

/** Does tasks one after the other, and gives their answers in this order. */
export async function doTasks(tasks: readonly VolumeTask[], signal: AbortSignal): Promise<VolumeAnswer[]> {
  const answers: VolumeAnswer[] = [];
  for (const task of tasks) answers.push(await answerTo(task, signal));
  return answers;
}

async function answerTo(task: VolumeTask, signal: AbortSignal): Promise<VolumeAnswer> {
  try {
    if (task.kind === 'read') return { text: await readInside(task.hostPath, task.path, task.largest) };
    await bindSubPath({ ...task, signal });
    return {};
  } catch (error) {
    signal.throwIfAborted();
    return { failure: messageOf(error) };
  }
}
