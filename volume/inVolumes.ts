/** Runs tasks on the contents of volumes, in a separate process if a volume may hang. */
import { scriptPath } from '../host/scriptPath.ts';
import { runOnVolume } from './runOnVolume.ts';
import { runTasks, type VolumeTask, type VolumeTaskResult } from './volumeTasks.ts';

/** Runs tasks sequentially and returns their results in the same order. */
export async function runInVolumes(
  tasks: readonly VolumeTask[],
  signal: AbortSignal,
): Promise<readonly VolumeTaskResult[]> {
  // Tasks in volumes that cannot hang run in this process, because starting another process would take longer than the
  // rest of the container's start.
  if (tasks.every(({ own }) => own)) return runTasks(tasks, signal);
  const input = JSON.stringify(tasks);
  const paths = [...new Set(tasks.filter(({ own }) => !own).map(({ hostPath }) => hostPath))];
  const script = scriptPath(import.meta.dirname, 'volumeChild');
  const output = await runOnVolume(process.execPath, [script], { paths, signal, input });
  // Safe cast, because the same program wrote the output.
  return JSON.parse(output) as readonly VolumeTaskResult[];
}
