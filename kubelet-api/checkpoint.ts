/**
 * Serves `POST /checkpoint/{ns}/{pod}/{container}`, which makes the runtime write an archive of a running container
 * (`checkpoint` in `pkg/kubelet/server/server.go`).
 */
import { join } from 'node:path';
import { messageOf, NodeFailure } from '../base/failure.ts';
import type { Cri } from '../cri/client/calls.ts';
import { formatRpcError } from '../cri/client/failure.ts';
import { findRunningContainer } from '../cri/runningContainer.ts';
import type { FileSystem } from '../host/files/fileSystem.ts';
import { findContainerByName } from '../kubernetes/api/pods/containers.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import { isoTime } from '../kubernetes/api/values/rfc3339.ts';
import { sendJson } from './answers.ts';
import type { Exchange, Route } from './exchange.ts';
import { Refusal, sendRefusal } from './streaming/refusal.ts';
import { fullName, requirePod } from './streaming/requirePod.ts';
import { parseContainerTarget } from './streaming/target.ts';

export interface CheckpointOptions {
  readonly pods: () => readonly Pod[];
  readonly cri: Pick<Cri, 'checkpointContainer' | 'listContainers'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Directory for the archives. It is created when the first archive is written. */
  readonly directory: string;
  readonly files: Pick<FileSystem, 'mkdir'>;
  /**
   * Default and minimum timeout of the call to the runtime, in milliseconds. A client can only request a longer
   * timeout.
   */
  readonly limitMs: number;
}

/** Responds with the path of the archive. */
export const checkpointRoute = (options: CheckpointOptions): Route => ({
  pathPrefix: '/checkpoint',
  methods: ['POST'],
  handle: async (exchange) => {
    try {
      sendJson(exchange.response, JSON.stringify({ items: [await createArchive(options, exchange)] }));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      sendRefusal(exchange.response, error);
    }
  },
});

async function createArchive(options: CheckpointOptions, { url, signal }: Exchange): Promise<string> {
  const containerTarget = parseContainerTarget(url);
  const pod = requirePod(options.pods(), containerTarget);
  const { namespace, container } = containerTarget;
  if (findContainerByName(pod.spec, container) === undefined)
    throw new Refusal(404, `container ${container} does not exist`);
  const timeoutSeconds = parseTimeout(url);
  try {
    if (timeoutSeconds < 0n) throw new Error('CheckpointContainer requires the timeout value to be > 0');
    return await checkpointContainer(options, { pod, container, timeout: timeoutSeconds, signal });
  } catch (error) {
    signal.throwIfAborted();
    const why = error instanceof NodeFailure ? formatRpcError(error) : messageOf(error);
    throw new Refusal(500, `checkpointing of ${namespace}/${containerTarget.pod}/${container} failed (${why})`);
  }
}

const MAX_TIMEOUT_SECONDS = 2n ** 63n;

/** Returns the timeout in seconds. If the query repeats the parameter, its last value applies. */
function parseTimeout(url: URL): bigint {
  const timeoutText = url.searchParams.getAll('timeout').at(-1);
  if (timeoutText === undefined) return 0n;
  const seconds = /^[+-]?\d+$/.test(timeoutText) ? BigInt(timeoutText.replace('+', '')) : MAX_TIMEOUT_SECONDS;
  if (seconds >= MAX_TIMEOUT_SECONDS || seconds < -MAX_TIMEOUT_SECONDS)
    throw new Refusal(404, 'cannot parse value of timeout parameter');
  return seconds;
}

interface CheckpointRequest {
  readonly pod: Pod;
  readonly container: string;
  readonly timeout: bigint;
  readonly signal: AbortSignal;
}

/** Maximum delay of a Node.js timer. A timer with a longer delay would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

async function checkpointContainer(
  { cri, now, directory, files, limitMs }: CheckpointOptions,
  { pod, container, timeout, signal }: CheckpointRequest,
): Promise<string> {
  const containerId = await findRunningContainer(cri, { podUid: pod.metadata.uid, name: container }, { signal });
  if (containerId === undefined) throw new Error(`container ${container} not found`);
  const at = isoTime(now()).replace(/\.\d+Z$/, 'Z');
  const archivePath = join(directory, `checkpoint-${fullName(pod)}-${container}-${at}.tar`);
  await files.mkdir(directory, { recursive: true, mode: 0o700 });
  const defaultTimeoutSeconds = BigInt(Math.floor(limitMs / 1_000));
  const seconds = timeout > defaultTimeoutSeconds ? timeout : defaultTimeoutSeconds;
  const timeoutMs = Math.min(MAX_TIMER_MS, timeout > defaultTimeoutSeconds ? Number(timeout) * 1_000 : limitMs);
  await cri.checkpointContainer({ containerId, location: archivePath, timeout: seconds }, { signal, timeoutMs });
  return archivePath;
}
