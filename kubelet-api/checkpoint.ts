/** `POST /checkpoint/{ns}/{pod}/{container}`: the runtime writes down a container as it runs (`checkpoint` in `pkg/kubelet/server/server.go`). */
import { join } from 'node:path';
import { messageOf, NodeFailure } from '../base/failure.ts';
import type { Cri } from '../cri/calls.ts';
import { rpcErrorText } from '../cri/failure.ts';
import { runningContainer } from '../cri/runningContainer.ts';
import type { FileSystem } from '../host/files/fileSystem.ts';
import { containerNamed } from '../kubernetes/api/containers.ts';
import { isoTime } from '../kubernetes/api/rfc3339.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import { sendJson } from './answers.ts';
import type { Exchange, Route } from './exchange.ts';
import { fullName, podNamed } from './streaming/found.ts';
import { Refusal, tell } from './streaming/refusal.ts';
import { containerTarget } from './streaming/target.ts';

export interface CheckpointParts {
  readonly pods: () => readonly Pod[];
  readonly cri: Pick<Cri, 'checkpointContainer' | 'listContainers'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Where archives go: it is made when the first one does. */
  readonly directory: string;
  readonly files: Pick<FileSystem, 'mkdir'>;
  /** How long a call to the runtime may take, in milliseconds: a client can give it longer, but not less. */
  readonly limitMs: number;
}

/** Answers with the path of the archive. */
export const checkpointRoute = (parts: CheckpointParts): Route => ({
  tree: '/checkpoint',
  methods: ['POST'],
  answer: async (exchange) => {
    try {
      sendJson(exchange.response, JSON.stringify({ items: [await archive(parts, exchange)] }));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      tell(exchange.response, error);
    }
  },
});

async function archive(parts: CheckpointParts, { url, signal }: Exchange): Promise<string> {
  const target = containerTarget(url);
  const pod = podNamed(parts.pods(), target);
  const { namespace, container } = target;
  if (containerNamed(pod.spec, container) === undefined)
    throw new Refusal(404, `container ${container} does not exist`);
  const timeout = timeoutIn(url);
  try {
    if (timeout < 0n) throw new Error('CheckpointContainer requires the timeout value to be > 0');
    return await written(parts, { pod, container, timeout, signal });
  } catch (error) {
    signal.throwIfAborted();
    const why = error instanceof NodeFailure ? rpcErrorText(error) : messageOf(error);
    throw new Refusal(500, `checkpointing of ${namespace}/${target.pod}/${container} failed (${why})`);
  }
}

const MOST_SECONDS = 2n ** 63n;

/** In seconds; the last one that is given counts. */
function timeoutIn(url: URL): bigint {
  const text = url.searchParams.getAll('timeout').at(-1);
  if (text === undefined) return 0n;
  const seconds = /^[+-]?\d+$/.test(text) ? BigInt(text.replace('+', '')) : MOST_SECONDS;
  if (seconds >= MOST_SECONDS || seconds < -MOST_SECONDS)
    throw new Refusal(404, 'cannot parse value of timeout parameter');
  return seconds;
}

interface Wanted {
  readonly pod: Pod;
  readonly container: string;
  readonly timeout: bigint;
  readonly signal: AbortSignal;
}

/** The longest time that a timer can count down to. */
const MOST_MS = 2 ** 31 - 1;

async function written(
  { cri, now, directory, files, limitMs }: CheckpointParts,
  { pod, container, timeout, signal }: Wanted,
): Promise<string> {
  const containerId = await runningContainer(cri, { podUid: pod.metadata.uid, name: container }, { signal });
  if (containerId === undefined) throw new Error(`container ${container} not found`);
  const at = isoTime(now()).replace(/\.\d+Z$/, 'Z');
  const location = join(directory, `checkpoint-${fullName(pod)}-${container}-${at}.tar`);
  await files.mkdir(directory, { recursive: true, mode: 0o700 });
  const usual = BigInt(Math.floor(limitMs / 1_000));
  const seconds = timeout > usual ? timeout : usual;
  const timeoutMs = Math.min(MOST_MS, timeout > usual ? Number(timeout) * 1_000 : limitMs);
  await cri.checkpointContainer({ containerId, location, timeout: seconds }, { signal, timeoutMs });
  return location;
}
