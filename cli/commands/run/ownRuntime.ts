import { createAlarm } from '../../../actors/alarm.ts';
import { type Clock, systemClock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/failure.ts';
import { connectCri } from '../../../cri/client/grpc.ts';
import { nodeNameInMark, OWNER } from '../../../cri/config/labels.ts';
import {
  containerdEndpoint,
  containerdTraces,
  type ManagedContainerd,
  removeContainerd,
  startManagedContainerd,
} from '../../../cri/managed/containerd/containerd.ts';
import { assertDirectoryOrMissing } from '../../../host/files/expectDirectory.ts';
import type { DownParts } from './down.ts';
import type { UpParts } from './up.ts';

/** How often it is looked at whether the private containerd still runs. */
const WATCH_MS = 1_000;
/** How often it is asked whether it answers, and how long it may not before it is started again. */
const ASK_MS = 10_000;
const SILENT_MS = 60_000;

/**
 * Starts the private containerd in a directory, or attaches to the one that an earlier agent left running; one that
 * dies, or hangs, is started again, and its pods go on.
 */
export const startOwnContainerd: UpParts['startRuntime'] = async (
  directory,
  { onProgress, asked, endsAll = false },
) => {
  await assertDirectoryOrMissing(directory);
  const pause = (ms: number) => createAlarm(systemClock).wait(systemClock.now() + ms);
  const ending = new AbortController();
  const common = { directory, pause, onProgress, endsAll };
  let containerd = await startManagedContainerd({ ...common, signal: asked });
  const unasked = new AbortController().signal;
  const startAgain = () => startManagedContainerd({ ...common, signal: unasked, isRestart: true });
  const wishes: string[] = [];
  const watch = keepAlive({
    current: () => containerd,
    takeWish: () => wishes.splice(0).at(-1),
    restart: async () => {
      containerd = await startAgain();
    },
    ending: ending.signal,
    onProgress,
    clock: systemClock,
  });
  const { endpoint, cgroupParent, undo } = containerd;
  const unwatch = () => {
    ending.abort();
    return watch;
  };
  return {
    endpoint,
    cgroupParent,
    undo: () => unwatch().then(undo),
    stop: () => unwatch().then(() => containerd.stop(new AbortController().signal)),
    restart: (why) => void wishes.push(why),
    detach: () => {
      unwatch();
      containerd.detach();
    },
  };
};

/** Restarts a containerd when it has died, has not answered for a minute, or is to be restarted, until the signal aborts. */
export async function keepAlive(parts: {
  current: () => Pick<ManagedContainerd, 'isAlive' | 'isResponsive' | 'restoreMasquerade' | 'halt'>;
  /** Why somebody wants it restarted, told once. */
  takeWish: () => string | undefined;
  restart: () => Promise<void>;
  ending: AbortSignal;
  onProgress: (step: string) => void;
  clock: Clock;
}): Promise<void> {
  const { current, takeWish, restart, ending, onProgress, clock } = parts;
  const alarm = createAlarm(clock, ending);
  let heardAt = clock.now();
  let askAt = clock.now() + ASK_MS;
  while (!ending.aborted) {
    await alarm.wait(clock.now() + WATCH_MS);
    if (ending.aborted) return;
    const isAlive = await current().isAlive();
    const wish = isAlive ? takeWish() : undefined;
    if (isAlive && clock.now() < askAt && wish === undefined) continue;
    if (isAlive && (await current().isResponsive())) heardAt = clock.now();
    if (isAlive) await current().restoreMasquerade();
    askAt = clock.now() + ASK_MS;
    const isSilent = clock.now() - heardAt >= SILENT_MS;
    if (ending.aborted || (isAlive && !isSilent && wish === undefined)) continue;
    heardAt = clock.now();
    onProgress(`the private containerd ${isAlive ? (wish ?? 'does not answer') : 'has died'}: restarting it`);
    const haltAndRestart = async () => {
      // Else the one that is to go would be found at work.
      if (wish !== undefined) await current().halt();
      await restart();
    };
    await haltAndRestart().catch((error: unknown) => onProgress(`it fails to start: ${messageOf(error)}`));
  }
}

/** How `down` looks for what is left of a private containerd, and ends it where it cannot be started any more. */
export const ownContainerdEnds: Pick<DownParts, 'tracesOf' | 'endpointOf' | 'nodeNameOf' | 'endRuntime'> = {
  tracesOf: containerdTraces,
  endpointOf: containerdEndpoint,
  endRuntime: (directory) => removeContainerd(directory, (ms) => createAlarm(systemClock).wait(systemClock.now() + ms)),
  nodeNameOf: async (runtimeEndpoint, rootDirectory) => {
    const cri = connectCri({ runtimeEndpoint, requestTimeoutMs: 5_000 });
    try {
      const { items } = await cri.listPodSandbox({ filter: undefined }, { signal: new AbortController().signal });
      const names = items.map(({ annotations }) => nodeNameInMark(annotations[OWNER], rootDirectory));
      return names.find((name) => name !== undefined);
    } finally {
      cri.close();
    }
  },
};
