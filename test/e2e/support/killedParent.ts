/** Starts the private containerd of the directory in its arguments and then waits to be killed. */
import { setTimeout as pause } from 'node:timers/promises';
import { startManagedContainerd } from '../../../cri/managed/containerd/containerd.ts';

const [, , directory = ''] = process.argv;
const { pid } = await startManagedContainerd({
  directory,
  signal: new AbortController().signal,
  pause: (ms) => pause(ms),
});
process.stdout.write(`${pid}\n`);
await pause(60_000);
