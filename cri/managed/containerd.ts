import { access, readFile } from 'node:fs/promises';
import { NodeFailure } from '../../base/failure.ts';
import { mayRun } from '../../host/runningProcess.ts';
import type { Cri } from '../calls.ts';
import { connectCri } from '../grpc.ts';
import { hasCgroup } from './cgroups.ts';
import { prepareDirectories, refuseOthers } from './directories.ts';
import { chooseSnapshotter, whyNoManagedContainerd } from './host.ts';
import { hostImages } from './images.ts';
import { importImages } from './importImages.ts';
import { type Launched, launch } from './launch.ts';
import { type Layout, layoutOf } from './layout.ts';
import { masquerade } from './masquerade.ts';
import { mountsBelow } from './mounts.ts';
import { prepareNetwork } from './network.ts';
import { endProcess, findContainerd, findShims, type Pause } from './process.ts';
import { stateBefore, takeBack } from './takeBack.ts';
import { tearDown } from './teardown.ts';

interface ManagedContainerdOptions {
  /** Where everything of it lies; two directories are two containerds that do not know of each other. */
  readonly directory: string;
  readonly signal: AbortSignal;
  /** Real time: it waits for a real process. */
  readonly pause: Pause;
  /** The pods' subnet; absent: a free private /24, kept for this directory. */
  readonly podCidr?: string;
  /** Whether it is started for an agent that goes on meanwhile: a start that fails leaves all but its process. */
  readonly isRestart?: boolean;
  /** Whether it is started only to end the pods that it has: then it needs no images. */
  readonly endsAll?: boolean;
  /** Is told of each step in a short sentence. */
  readonly onProgress?: (step: string) => void;
}

/** A containerd of our own, ready for pods. */
export interface ManagedContainerd {
  /** `unix:///…`, for the runtime and the images. */
  readonly endpoint: string;
  readonly pid: number;
  /** Whether it ran already. */
  readonly attached: boolean;
  readonly podCidr: string;
  /** Pods' cgroups that lie below this one are removed by `stop`. */
  readonly cgroupParent: string;
  /** Whether it still runs: it may have been killed, or have crashed. */
  isAlive(): Promise<boolean>;
  /** Whether it answers within a few seconds: it may hang. */
  answers(): Promise<boolean>;
  /** Sees to it that its pods reach what is beyond the host: whoever loads other rules takes ours away. */
  letOut(): Promise<void>;
  /** Takes its start back: what ran before goes on, and nothing else stays. */
  undo(): Promise<void>;
  /** Ends its process alone: its pods run on, and wait for it to be started again. */
  halt(): Promise<void>;
  /** Ends it with all its pods and leaves nothing of it on the host but its directory; again, it does nothing. */
  stop(signal: AbortSignal): Promise<void>;
  /** Lets go of it: it and its pods run on, whatever becomes of us. */
  detach(): void;
}

/**
 * Starts the private containerd of a directory, or attaches to it when it runs. Its pods survive our end and its own
 * restart. Rejects with `RuntimeUnavailable` and the end of its log when it does not become ready, and with the signal's
 * reason when that aborts; what it had begun until then is taken back, and what ran before goes on.
 */
export async function startManagedContainerd(options: ManagedContainerdOptions): Promise<ManagedContainerd> {
  const { signal, pause, isRestart = false, onProgress = () => {} } = options;
  const why = await whyNoManagedContainerd();
  if (why !== undefined) throw new NodeFailure('RuntimeUnavailable', why);
  const layout = layoutOf(options.directory);
  await prepareDirectories(layout);
  const noted = await stateBefore(layout);
  const before = { ...noted, hasPods: noted.hasPods || isRestart };
  const connect = () => connectCri({ runtimeEndpoint: endpointIn(layout), requestTimeoutMs: 5000 });
  const undo = () => takeBack({ layout, before, connect, pause });
  try {
    const started = await startIn(layout, { ...options, connect });
    signal.throwIfAborted();
    return { ...started, undo };
  } catch (error) {
    await undo().catch((left: Error) => {
      const why = signal.aborted || !(error instanceof Error) ? '' : `${error.message}; `;
      const message = `${why}cleaning up after this start failed: ${left.message}`;
      throw new NodeFailure('RuntimeUnavailable', message, { cause: new AggregateError([error, left]) });
    });
    if (noted.hasPods && !isRestart) onProgress('the pods that were running keep running');
    signal.throwIfAborted();
    throw error;
  }
}

async function startIn(
  layout: Layout,
  options: ManagedContainerdOptions & { readonly connect: () => Cri },
): Promise<Omit<ManagedContainerd, 'undo'>> {
  const { signal, pause, connect, onProgress = () => {} } = options;
  const podCidr = await prepareNetwork(layout, options.podCidr);
  // Not by the signal of the start: it is called again later.
  const letOut = () =>
    masquerade(layout, podCidr, new AbortController().signal).catch((error: Error) =>
      onProgress(`the pods cannot reach anything outside this host: ${error.message}`),
    );
  await letOut();
  const snapshotter = await chooseSnapshotter(layout.directory, signal);
  const cri = connect();
  try {
    const launched = await launchWithImages({ layout, cri, snapshotter, pause, signal, onProgress }, options);
    return { ...containerdOf(layout, launched, { connect, pause }), podCidr, letOut };
  } finally {
    cri.close();
  }
}

async function launchWithImages(
  input: Parameters<typeof launch>[0],
  { endsAll = false, isRestart = false }: ManagedContainerdOptions,
): Promise<Launched> {
  const images = endsAll ? Promise.resolve([]) : hostImages(input.signal);
  // Awaited after what may fail before it.
  images.catch(() => {});
  const launched = await launch(input);
  await images
    .then((wanted) => importImages({ ...input, images: wanted }))
    .catch((error: Error) => {
      // Its pods need it more than images that it most likely has.
      if (!isRestart) throw error;
      input.onProgress(`its images could not be imported again: ${error.message}`);
    });
  return launched;
}

/** What can be asked of a containerd that runs, and how it ends. */
function containerdOf(
  layout: Layout,
  { containerd, attached }: Launched,
  { connect, pause }: { readonly connect: () => Cri; readonly pause: Pause },
): Omit<ManagedContainerd, 'undo' | 'podCidr' | 'letOut'> {
  return {
    endpoint: endpointIn(layout),
    pid: containerd.pid,
    attached,
    cgroupParent: layout.cgroupParent,
    // While nobody can tell no second one is started.
    isAlive: () => mayRun(containerd),
    answers: () => doesAnswer(connect()),
    halt: () => endProcess(containerd, 5_000, pause),
    ...letGo((signal) => tearDown({ layout, connect, signal, pause })),
  };
}

/** Where the private containerd of a directory listens. */
export const endpointOfContainerd = (directory: string): string => endpointIn(layoutOf(directory));

const endpointIn = ({ socket }: Layout): string => `unix://${socket}`;

/** What a private containerd has on the host, as a user would name it; nothing when it has ended in order. */
export async function tracesOfContainerd(directory: string): Promise<string[]> {
  const layout = layoutOf(directory);
  const [running, shims, mounts, isBridged] = await Promise.all([
    findContainerd(layout),
    findShims(layout),
    readFile('/proc/self/mountinfo', 'utf8').then((text) => mountsBelow(layout.directory, text)),
    access(`/sys/class/net/${layout.bridge}`).then(
      () => true,
      () => false,
    ),
  ]);
  const counted = (count: number, what: string) => (count === 0 ? [] : [`${count} ${what}${count === 1 ? '' : 's'}`]);
  return [
    ...(running === undefined ? [] : [`the private containerd (process ${running.pid})`]),
    ...counted(shims.length, 'pod sandbox shim'),
    ...counted(mounts.length, 'mount'),
    ...(isBridged ? [`the network ${layout.bridge}`] : []),
    ...((await hasCgroup(layout.cgroupParent)) ? [`the cgroup ${layout.cgroupParent}`] : []),
  ];
}

/**
 * Ends what there is of a private containerd, whatever state it is in; pods that it still has get no grace. A directory
 * that is not that of one of ours is refused.
 */
export async function endContainerd(directory: string, pause: Pause): Promise<void> {
  const layout = layoutOf(directory);
  await refuseOthers(layout);
  const connect = () => connectCri({ runtimeEndpoint: endpointIn(layout), requestTimeoutMs: 5000 });
  await tearDown({ layout, connect, signal: new AbortController().signal, pause });
}

async function doesAnswer(cri: Cri): Promise<boolean> {
  try {
    await cri.status({ verbose: false }, { signal: new AbortController().signal });
    return true;
  } catch {
    return false;
  } finally {
    cri.close();
  }
}

/** The two ways to part with it; whichever comes first holds, and a `stop` that failed may be tried again. */
function letGo(tearDownNow: (signal: AbortSignal) => Promise<void>): Pick<ManagedContainerd, 'stop' | 'detach'> {
  let done: Promise<void> | undefined;
  return {
    stop: (signal) => {
      done ??= tearDownNow(signal).catch((error: unknown) => {
        done = undefined;
        throw error;
      });
      return done;
    },
    detach: () => {
      done ??= Promise.resolve();
    },
  };
}
