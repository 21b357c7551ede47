import { createAlarm } from '../../../actors/alarm.ts';
import { messageOf } from '../../../base/failure.ts';
import { type Clock, systemClock } from '../../../base/time/clock.ts';
import { connectCri } from '../../../cri/client/connectCri.ts';
import { nodeNameFromOwner, OWNER_ANNOTATION } from '../../../cri/config/labels.ts';
import {
  containerdEndpoint,
  describeContainerdTraces,
  type ManagedContainerd,
  removeContainerd,
  startManagedContainerd,
} from '../../../cri/managed/containerd/containerd.ts';
import { assertDirectoryOrMissing } from '../../../host/files/assertDirectoryOrMissing.ts';
import type { DownDependencies } from './down.ts';
import type { UpDependencies } from './up.ts';

/** Interval between checks that the private containerd is running, in milliseconds. */
const ALIVE_CHECK_INTERVAL_MS = 1_000;
/** Interval between checks that the private containerd responds, in milliseconds. */
const RESPONSE_CHECK_INTERVAL_MS = 10_000;
/** Time without a response after which the private containerd is restarted, in milliseconds. */
const MAX_SILENCE_MS = 60_000;

/**
 * Starts the private containerd in a directory, or attaches to the one that an earlier agent left running. It is
 * restarted if it dies or hangs, while its pods keep running.
 */
export const startPrivateContainerd: UpDependencies['startRuntime'] = async (
  directory,
  { onProgress, stopSignal, terminatesPods = false },
) => {
  await assertDirectoryOrMissing(directory);
  const pause = (ms: number) => createAlarm(systemClock).waitUntil(systemClock.now() + ms);
  const stopController = new AbortController();
  const options = { directory, pause, onProgress, endsAll: terminatesPods };
  let containerd = await startManagedContainerd({ ...options, signal: stopSignal });
  const neverAborted = new AbortController().signal;
  const restartContainerd = () => startManagedContainerd({ ...options, signal: neverAborted, isRestart: true });
  const restartReasons: string[] = [];
  const watchPromise = superviseContainerd({
    current: () => containerd,
    consumeRestartReason: () => restartReasons.splice(0).at(-1),
    restart: async () => {
      containerd = await restartContainerd();
    },
    stopSignal: stopController.signal,
    onProgress,
    clock: systemClock,
  });
  const { endpoint, cgroupParent, undo } = containerd;
  const stopWatching = () => {
    stopController.abort();
    return watchPromise;
  };
  return {
    endpoint,
    cgroupParent,
    undo: () => stopWatching().then(undo),
    stop: () => stopWatching().then(() => containerd.stop(new AbortController().signal)),
    restart: (why) => void restartReasons.push(why),
    detach: () => {
      stopWatching();
      containerd.detach();
    },
  };
};

/**
 * Restarts containerd when it dies, when it does not respond for a minute, and when a restart is requested. Stops when
 * the signal aborts.
 */
export async function superviseContainerd(options: {
  current: () => Pick<ManagedContainerd, 'isAlive' | 'isResponsive' | 'restoreMasquerade' | 'halt'>;
  /** Returns the reason for a requested restart, and clears it. */
  consumeRestartReason: () => string | undefined;
  restart: () => Promise<void>;
  stopSignal: AbortSignal;
  onProgress: (step: string) => void;
  clock: Clock;
}): Promise<void> {
  const { current, consumeRestartReason, restart, stopSignal, onProgress, clock } = options;
  const alarm = createAlarm(clock, stopSignal);
  let respondedAt = clock.now();
  let nextResponseCheckAt = clock.now() + RESPONSE_CHECK_INTERVAL_MS;
  while (!stopSignal.aborted) {
    await alarm.waitUntil(clock.now() + ALIVE_CHECK_INTERVAL_MS);
    if (stopSignal.aborted) return;
    const isAlive = await current().isAlive();
    const restartReason = isAlive ? consumeRestartReason() : undefined;
    if (isAlive && clock.now() < nextResponseCheckAt && restartReason === undefined) continue;
    if (isAlive && (await current().isResponsive())) respondedAt = clock.now();
    if (isAlive) await current().restoreMasquerade();
    nextResponseCheckAt = clock.now() + RESPONSE_CHECK_INTERVAL_MS;
    const isUnresponsive = clock.now() - respondedAt >= MAX_SILENCE_MS;
    if (stopSignal.aborted || (isAlive && !isUnresponsive && restartReason === undefined)) continue;
    respondedAt = clock.now();
    onProgress(`the private containerd ${isAlive ? (restartReason ?? 'does not respond') : 'has died'}: restarting it`);
    const haltAndRestart = async () => {
      // Stop the running containerd first, because `restart` would attach to it.
      if (restartReason !== undefined) await current().halt();
      await restart();
    };
    await haltAndRestart().catch((error: unknown) =>
      onProgress(`the private containerd fails to start: ${messageOf(error)}`),
    );
  }
}

/** Functions that `down` uses to find a private containerd and to remove one that cannot be started. */
export const privateContainerdCleanup: Pick<
  DownDependencies,
  'describeRuntimeLeftovers' | 'endpointOf' | 'nodeNameOf' | 'removeRuntime'
> = {
  describeRuntimeLeftovers: describeContainerdTraces,
  endpointOf: containerdEndpoint,
  removeRuntime: (directory) =>
    removeContainerd(directory, (ms) => createAlarm(systemClock).waitUntil(systemClock.now() + ms)),
  nodeNameOf: async (runtimeEndpoint, rootDirectory) => {
    const cri = connectCri({ runtimeEndpoint, requestTimeoutMs: 5_000 });
    try {
      const { items } = await cri.listPodSandbox({ filter: undefined }, { signal: new AbortController().signal });
      const nodeNames = items.map(({ annotations }) => nodeNameFromOwner(annotations[OWNER_ANNOTATION], rootDirectory));
      return nodeNames.find((name) => name !== undefined);
    } finally {
      cri.close();
    }
  },
};
