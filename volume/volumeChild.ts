/** A process of its own, for it alone is held up by a volume that does not answer: does tasks, and prints the answers. */
import { text } from 'node:stream/consumers';
import { doTasks, type VolumeTask } from './volumeTasks.ts';

/** Whoever started this process ends it. */
const { signal } = new AbortController();

// Of the same program, so they are what they are said to be.
const tasks = JSON.parse(await text(process.stdin)) as readonly VolumeTask[];
process.stdout.write(JSON.stringify(await doTasks(tasks, signal)));
