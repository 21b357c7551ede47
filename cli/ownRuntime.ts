import { systemClock } from '../actors/clock.ts';
import { createAlarm } from '../actors/feeds/alarm.ts';
import { type ManagedContainerd, startManagedContainerd } from '../cri/managed/containerd.ts';
import type { OwnRuntime } from './up.ts';

/** How often it is looked at whether the private containerd still runs. */
const WATCH_MS = 1_000;

/**
 * Starts the private containerd in a directory, or attaches to the one that an earlier agent left running; one that
 * dies is started again, and its pods go on.
 */
export async function startOwnContainerd(directory: string, onProgress: (step: string) => void): Promise<OwnRuntime> {
  const pause = (ms: number) => createAlarm(systemClock).wait(systemClock.now() + ms);
  const ending = new AbortController();
  const start = () => startManagedContainerd({ directory, signal: new AbortController().signal, pause, onProgress });
  let containerd = await start();
  const watch = keepAlive({
    current: () => containerd,
    restart: async () => {
      containerd = await start();
    },
    ending: ending.signal,
    onProgress,
  });
  const { endpoint, cgroupParent } = containerd;
  return {
    endpoint,
    cgroupParent,
    stop: async () => {
      ending.abort();
      await watch;
      await containerd.stop(new AbortController().signal);
    },
  };
}

async function keepAlive(parts: {
  current: () => ManagedContainerd;
  restart: () => Promise<void>;
  ending: AbortSignal;
  onProgress: (step: string) => void;
}): Promise<void> {
  const { current, restart, ending, onProgress } = parts;
  const alarm = createAlarm(systemClock, ending);
  while (!ending.aborted) {
    await alarm.wait(systemClock.now() + WATCH_MS);
    if (ending.aborted || (await current().isAlive())) continue;
    onProgress('the private containerd has died: starting it again');
    await restart().catch((error: unknown) =>
      onProgress(`it does not start: ${error instanceof Error ? error.message : String(error)}`),
    );
  }
}
