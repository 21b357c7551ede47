import { systemClock } from '../actors/clock.ts';
import { startManagedContainerd } from '../cri/managed/containerd.ts';
import type { OwnRuntime } from './up.ts';

/** Starts the private containerd in a directory, or attaches to the one that an earlier agent left running. */
export async function startOwnContainerd(directory: string, onProgress: (step: string) => void): Promise<OwnRuntime> {
  const signal = new AbortController().signal;
  const pause = (ms: number) => new Promise<void>((resolve) => void systemClock.setTimeout(resolve, ms));
  const { endpoint, cgroupParent, stop } = await startManagedContainerd({ directory, signal, pause, onProgress });
  return { endpoint, cgroupParent, stop: () => stop(signal) };
}
