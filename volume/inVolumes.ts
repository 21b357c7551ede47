/** What is done in volumes with more care than a program of the host has: by a process of our own. */
import { ownScript } from '../host/ownScript.ts';
import { runOnVolume } from './program.ts';
import type { VolumeAnswer, VolumeTask } from './volumeChild.ts';

/** Does tasks in volumes, one after the other, and gives their answers in this order. */
export async function inVolumes(tasks: readonly VolumeTask[], signal: AbortSignal): Promise<readonly VolumeAnswer[]> {
  if (tasks.length === 0) return [];
  const input = JSON.stringify(tasks);
  const script = ownScript(import.meta.dirname, 'volumeChild');
  const answers = await runOnVolume(process.execPath, [script], { at: input, signal, input });
  // Of the same program, so they are what they are said to be.
  return JSON.parse(answers) as readonly VolumeAnswer[];
}
