/** Entry point of the process that runs tasks in volumes that may hang. Prints the results as JSON. */
import { text } from 'node:stream/consumers';
import { runTasks, type VolumeTask } from './volumeTasks.ts';

/** Signal that never aborts, because the parent kills this process instead. */
const { signal } = new AbortController();

// Safe cast, because the same program wrote the input.
const tasks = JSON.parse(await text(process.stdin)) as readonly VolumeTask[];
process.stdout.write(JSON.stringify(await runTasks(tasks, signal)));
