import { isDeepStrictEqual } from 'node:util';
import type { RunningProcess } from '../../../host/runningProcess.ts';
import type { Cri } from '../../client/calls.ts';
import type { Layout } from '../layout.ts';
import { findContainerd, findShims, type Pause, terminateProcess } from './process.ts';
import { tearDown } from './teardown.ts';

/** State before the start of a private containerd. Reverting the start restores this state. */
export interface StateBeforeStart {
  /** The containerd process, or undefined if none was running. */
  readonly containerd: RunningProcess | undefined;
  readonly hasPods: boolean;
}

/** Records the state before a start. */
export async function readStateBeforeStart(layout: Layout): Promise<StateBeforeStart> {
  const [containerd, shims] = await Promise.all([findContainerd(layout), findShims(layout)]);
  return { containerd, hasPods: shims.length > 0 };
}

/**
 * Reverts a failed or abandoned start: terminates the containerd that it started and removes its resources from the
 * host. If there were pods before the start, only the process is terminated, because the pods need the other resources.
 */
export async function revertStart(input: {
  readonly layout: Layout;
  readonly stateBefore: StateBeforeStart;
  readonly connect: () => Cri;
  readonly pause: Pause;
}): Promise<void> {
  const { layout, stateBefore, connect, pause } = input;
  const runningContainerd = await findContainerd(layout);
  if (runningContainerd !== undefined && isDeepStrictEqual(runningContainerd, stateBefore.containerd)) return;
  // Terminate the process first, so that containerd persists its records of sandboxes for the next start.
  if (runningContainerd !== undefined) await terminateProcess(runningContainerd, 5_000, pause);
  if (!stateBefore.hasPods) await tearDown({ layout, connect, pause, signal: new AbortController().signal });
}
