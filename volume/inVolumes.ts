/** Looks into volumes: of those that may not answer by a process of its own. */
import { ownScript } from '../host/ownScript.ts';
import { runOnVolume } from './program.ts';
import { doTasks, type VolumeAnswer, type VolumeTask } from './volumeTasks.ts';

/** Does tasks in volumes, one after the other, and gives their answers in this order. */
export async function inVolumes(tasks: readonly VolumeTask[], signal: AbortSignal): Promise<readonly VolumeAnswer[]> {
  // A process costs more than all the rest of a container's start.
  if (tasks.every(({ own }) => own)) return doTasks(tasks, signal);
  const input = JSON.stringify(tasks);
  const at = [...new Set(tasks.filter(({ own }) => !own).map(({ hostPath }) => hostPath))];
  const script = ownScript(import.meta.dirname, 'volumeChild');
  const answers = await runOnVolume(process.execPath, [script], { at, signal, input });
  // Of the same program, so they are what they are said to be.
  return JSON.parse(answers) as readonly VolumeAnswer[];
}
