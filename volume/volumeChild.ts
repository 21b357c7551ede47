/** A process of its own, for it alone is held up by a volume that does not answer: does tasks, and prints the answers. */
import { text } from 'node:stream/consumers';
import { messageOf } from '../host/files/fileErrors.ts';
import { readInside } from '../host/files/safeOpen.ts';
import { bindSubPath } from './subPaths.ts';

export type VolumeTask =
  /** Reads a file in a volume, of so many bytes at most. */
  | { readonly kind: 'read'; readonly hostPath: string; readonly path: string; readonly largest: number }
  /** Mounts a part of a volume at a path of the pod's own (C26). */
  | { readonly kind: 'bind'; readonly hostPath: string; readonly subPath: string; readonly target: string };

export interface VolumeAnswer {
  /** Why it could not be done. */
  readonly failure?: string;
  /** What was read; absent where there is no such file. */
  readonly text?: string | undefined;
}

/** Whoever started this process ends it. */
const { signal } = new AbortController();

async function answerTo(task: VolumeTask): Promise<VolumeAnswer> {
  try {
    if (task.kind === 'read') return { text: await readInside(task.hostPath, task.path, task.largest) };
    await bindSubPath({ ...task, signal });
    return {};
  } catch (error) {
    return { failure: messageOf(error) };
  }
}

// Of the same program, so they are what they are said to be.
const tasks = JSON.parse(await text(process.stdin)) as readonly VolumeTask[];
const answers: VolumeAnswer[] = [];
for (const task of tasks) answers.push(await answerTo(task));
process.stdout.write(JSON.stringify(answers));
