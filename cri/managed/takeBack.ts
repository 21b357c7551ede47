import { isDeepStrictEqual } from 'node:util';
import type { RunningProcess } from '../../host/runningProcess.ts';
import type { Cri } from '../calls.ts';
import type { Layout } from './layout.ts';
import { endProcess, findContainerd, findShims, type Pause } from './process.ts';
import { tearDown } from './teardown.ts';

/** What ran before a start of a private containerd: a start that is taken back leaves that as it was. */
export interface Before {
  /** The process of the containerd, where one ran. */
  readonly containerd: RunningProcess | undefined;
  readonly hasPods: boolean;
}

/** Notes what runs before a start. */
export async function stateBefore(layout: Layout): Promise<Before> {
  const [containerd, shims] = await Promise.all([findContainerd(layout), findShims(layout)]);
  return { containerd, hasPods: shims.length > 0 };
}

/**
 * Takes a start back that failed, or that is not wanted any more: ends the containerd that it has started, and removes
 * what that has on the host. With pods from before only the process ends: they need the rest.
 */
export async function takeBack(parts: {
  readonly layout: Layout;
  readonly before: Before;
  readonly connect: () => Cri;
  readonly pause: Pause;
}): Promise<void> {
  const { layout, before, connect, pause } = parts;
  const running = await findContainerd(layout);
  if (running !== undefined && isDeepStrictEqual(running, before.containerd)) return;
  // Before all else: it keeps what it knows of sandboxes for the next start.
  if (running !== undefined) await endProcess(running, 5_000, pause);
  if (!before.hasPods) await tearDown({ layout, connect, pause, signal: new AbortController().signal });
}
