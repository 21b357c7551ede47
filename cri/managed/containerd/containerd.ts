import { access, readFile } from 'node:fs/promises';
import { NodeFailure } from '../../../base/failure.ts';
import { mayBeRunning } from '../../../host/runningProcess.ts';
import type { Cri } from '../../client/calls.ts';
import { connectCri } from '../../client/connectCri.ts';
import { hasCgroup } from '../cgroups.ts';
import { prepareDirectories, refuseForeignDirectory } from '../directories.ts';
import { chooseSnapshotter, findManagedContainerdObstacle } from '../host.ts';
import { buildHostImages } from '../images/images.ts';
import { importImages } from '../images/importImages.ts';
import { type Layout, layoutOf } from '../layout.ts';
import { parseMountPointsBelow } from '../mounts.ts';
import { enableMasquerade } from '../network/masquerade.ts';
import { prepareNetwork } from '../network/network.ts';
import { type LaunchResult, launchContainerd } from './launchContainerd.ts';
import { findContainerd, findShims, type Pause, terminateProcess } from './process.ts';
import { readStateBeforeStart, revertStart } from './takeBack.ts';
import { tearDown } from './teardown.ts';

interface ManagedContainerdOptions {
  /** Directory of all files of this containerd. Containerds in different directories are independent. */
  readonly directory: string;
  readonly signal: AbortSignal;
  /** Waits in real time, because startup and shutdown involve a real process. */
  readonly pause: Pause;
  /** Subnet of the pods. Defaults to an unused private /24, which is reserved for this directory. */
  readonly podCidr?: string;
  /**
   * Whether containerd is restarted while its agent keeps running. If the restart fails, only the new process is
   * terminated. The shims, mounts and network namespaces of the running pods remain in place.
   */
  readonly isRestart?: boolean;
  /** Whether containerd is started only to terminate its pods, in which case it needs no images. */
  readonly endsAll?: boolean;
  /** Receives a short sentence about each step. */
  readonly onProgress?: (step: string) => void;
}

/** A private containerd that is ready to run pods. */
export interface ManagedContainerd {
  /** Endpoint of the runtime service and the image service (`unix:///…`). */
  readonly endpoint: string;
  readonly pid: number;
  /** Whether containerd was already running. */
  readonly wasRunning: boolean;
  readonly podCidr: string;
  /** Name of the cgroup that contains the cgroups of the pods. `stop` removes this cgroup with all cgroups in it. */
  readonly cgroupParent: string;
  isAlive(): Promise<boolean>;
  /** Whether containerd responds within a few seconds. */
  isResponsive(): Promise<boolean>;
  /**
   * Restores the iptables rule that lets pods reach networks outside the host, because other software may have removed
   * it.
   */
  restoreMasquerade(): Promise<void>;
  /** Reverts this start. If containerd was running before, it continues to run. */
  undo(): Promise<void>;
  /** Terminates containerd but not its pods, which continue to run until containerd is started again. */
  halt(): Promise<void>;
  /**
   * Terminates containerd with all its pods and removes everything except its directory from the host. Further calls
   * have no effect.
   */
  stop(signal: AbortSignal): Promise<void>;
  /** Releases containerd, so that it and its pods continue to run after the agent exits. */
  detach(): void;
}

/**
 * Starts the private containerd of a directory, or attaches to it if it is running. Its pods survive the agent's exit
 * and restarts of containerd. Rejects with `RuntimeUnavailable` and the last lines of its log if it does not become
 * ready, or with the reason of an aborted signal. A failed start is reverted, and a containerd that was running before
 * continues to run.
 */
export async function startManagedContainerd(options: ManagedContainerdOptions): Promise<ManagedContainerd> {
  const { signal, pause, isRestart = false, onProgress = () => {} } = options;
  const obstacle = await findManagedContainerdObstacle();
  if (obstacle !== undefined) throw new NodeFailure('RuntimeUnavailable', obstacle);
  const layout = layoutOf(options.directory);
  await prepareDirectories(layout);
  const previousState = await readStateBeforeStart(layout);
  const stateBefore = { ...previousState, hasPods: previousState.hasPods || isRestart };
  const connect = () => connectCri({ runtimeEndpoint: socketEndpoint(layout), requestTimeoutMs: 5000 });
  const revert = () => revertStart({ layout, stateBefore, connect, pause });
  try {
    const startedContainerd = await startInLayout(layout, { ...options, connect });
    signal.throwIfAborted();
    return { ...startedContainerd, undo: revert };
  } catch (error) {
    await revert().catch((cleanupError: Error) => {
      const reason = signal.aborted || !(error instanceof Error) ? '' : `${error.message}; `;
      const message = `${reason}cleaning up after this start failed: ${cleanupError.message}`;
      throw new NodeFailure('RuntimeUnavailable', message, { cause: new AggregateError([error, cleanupError]) });
    });
    if (previousState.hasPods && !isRestart) onProgress('the pods that were running keep running');
    signal.throwIfAborted();
    throw error;
  }
}

async function startInLayout(
  layout: Layout,
  options: ManagedContainerdOptions & { readonly connect: () => Cri },
): Promise<Omit<ManagedContainerd, 'undo'>> {
  const { signal, pause, connect, onProgress = () => {} } = options;
  const podCidr = await prepareNetwork(layout, options.podCidr);
  // Do not pass the signal of the start, because this function is called again after the start.
  const restoreMasquerade = () =>
    enableMasquerade(layout, podCidr, new AbortController().signal).catch((error: Error) =>
      onProgress(`the pods cannot reach anything outside this host: ${error.message}`),
    );
  await restoreMasquerade();
  const snapshotter = await chooseSnapshotter(layout.directory, signal);
  const cri = connect();
  try {
    const launchResult = await launchWithImages({ layout, cri, snapshotter, pause, signal, onProgress }, options);
    return {
      ...controlContainerd(layout, launchResult, { connect, pause }),
      podCidr,
      restoreMasquerade,
    };
  } finally {
    cri.close();
  }
}

async function launchWithImages(
  input: Parameters<typeof launchContainerd>[0],
  { endsAll = false, isRestart = false }: ManagedContainerdOptions,
): Promise<LaunchResult> {
  const images = endsAll ? Promise.resolve([]) : buildHostImages(input.signal);
  // Prevents an unhandled rejection if the launch fails first.
  images.catch(() => {});
  const launchResult = await launchContainerd(input);
  await images
    .then((wanted) => importImages({ ...input, images: wanted }))
    .catch((error: Error) => {
      // On a restart, ignore the error, because existing pods need containerd more urgently than the images, which are
      // most likely present already.
      if (!isRestart) throw error;
      input.onProgress(`its images could not be imported again: ${error.message}`);
    });
  return launchResult;
}

/** Returns the operations on a running containerd. */
function controlContainerd(
  layout: Layout,
  { containerd, wasRunning }: LaunchResult,
  { connect, pause }: { readonly connect: () => Cri; readonly pause: Pause },
): Omit<ManagedContainerd, 'undo' | 'podCidr' | 'restoreMasquerade'> {
  return {
    endpoint: socketEndpoint(layout),
    pid: containerd.pid,
    wasRunning,
    cgroupParent: layout.cgroupParent,
    // If the check fails, assume that the process is running, because a second containerd must not be started.
    isAlive: () => mayBeRunning(containerd),
    isResponsive: () => checkResponsive(connect()),
    halt: () => terminateProcess(containerd, 5_000, pause),
    ...createStopAndDetach((signal) => tearDown({ layout, connect, signal, pause })),
  };
}

/** Returns the endpoint of the private containerd that uses this directory. */
export const containerdEndpoint = (directory: string): string => socketEndpoint(layoutOf(directory));

const socketEndpoint = ({ socket }: Layout): string => `unix://${socket}`;

/**
 * Returns descriptions of everything on the host that belongs to a private containerd. The list is empty after an
 * orderly stop.
 */
export async function describeContainerdTraces(directory: string): Promise<string[]> {
  const layout = layoutOf(directory);
  const [running, shims, mounts, isBridged] = await Promise.all([
    findContainerd(layout),
    findShims(layout),
    readFile('/proc/self/mountinfo', 'utf8').then((text) => parseMountPointsBelow(layout.directory, text)),
    access(`/sys/class/net/${layout.bridge}`).then(
      () => true,
      () => false,
    ),
  ]);
  const describeCount = (count: number, noun: string) =>
    count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'}`];
  return [
    ...(running === undefined ? [] : [`the private containerd (process ${running.pid})`]),
    ...describeCount(shims.length, 'pod sandbox shim'),
    ...describeCount(mounts.length, 'mount'),
    ...(isBridged ? [`the network ${layout.bridge}`] : []),
    ...((await hasCgroup(layout.cgroupParent)) ? [`the cgroup ${layout.cgroupParent}`] : []),
  ];
}

/**
 * Terminates a private containerd in any state and removes all of its resources from the host. Its pods are killed
 * without a grace period. Rejects if the directory does not belong to a private containerd.
 */
export async function removeContainerd(directory: string, pause: Pause): Promise<void> {
  const layout = layoutOf(directory);
  await refuseForeignDirectory(layout);
  const connect = () => connectCri({ runtimeEndpoint: socketEndpoint(layout), requestTimeoutMs: 5000 });
  await tearDown({ layout, connect, signal: new AbortController().signal, pause });
}

async function checkResponsive(cri: Cri): Promise<boolean> {
  try {
    await cri.status({ verbose: false }, { signal: new AbortController().signal });
    return true;
  } catch {
    return false;
  } finally {
    cri.close();
  }
}

/** Returns `stop` and `detach`. Only the first call has an effect, except that a failed `stop` can be repeated. */
function createStopAndDetach(
  runTeardown: (signal: AbortSignal) => Promise<void>,
): Pick<ManagedContainerd, 'stop' | 'detach'> {
  let teardown: Promise<void> | undefined;
  return {
    stop: (signal) => {
      teardown ??= runTeardown(signal).catch((error: unknown) => {
        teardown = undefined;
        throw error;
      });
      return teardown;
    },
    detach: () => {
      teardown ??= Promise.resolve();
    },
  };
}
