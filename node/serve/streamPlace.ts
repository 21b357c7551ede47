import { NodeFailure } from '../../base/failure.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { runtimeMessage } from '../../cri/client/failure.ts';
import { findRunningContainer } from '../../cri/runningContainer.ts';
import { containerNamed } from '../../kubernetes/api/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { statusesOf } from '../../show/actors/podActors.ts';
import type { StreamEndpoint, StreamRequest } from '../../socket/agent.ts';

interface StreamParts {
  readonly agent: { knownPods(): readonly Pod[] };
  readonly cri: Pick<Cri, 'exec' | 'attach' | 'listContainers'>;
}

/** The runtime only makes up a URL, and whoever asks does not wait for long, in milliseconds. */
const LIMIT_MS = 5_000;

/**
 * Has the runtime serve a command in a container, or the process of the container. What is refused, in which order and by
 * which words, is a kubelet's (`getExec` and `getAttach` in `pkg/kubelet/server/server.go`).
 */
export async function streamPlace(
  { agent, cri }: StreamParts,
  request: StreamRequest,
  signal: AbortSignal,
): Promise<StreamEndpoint> {
  const { uid, container, command } = request;
  if (!request.stdin && !request.stdout && !request.stderr)
    throw new NodeFailure('BadRequest', 'you must specify at least 1 of stdin, stdout, stderr');
  const pod = agent.knownPods().find(({ metadata }) => metadata.uid === uid);
  if (pod === undefined) throw new NodeFailure('NotFound', 'pod does not exist');
  const options = { signal, timeoutMs: LIMIT_MS };
  const running = findRunningContainer(cri, { podUid: uid, name: container }, options).catch(refused);
  const containerId = (await running) ?? notRunning(pod, request);
  // A process has a terminal since its start, or none.
  const tty = command ? request.tty : (containerNamed(pod.spec, container)?.container.tty ?? false);
  const { stdin, stdout } = request;
  const streams = { stdin, stdout, stderr: request.stderr && !tty, tty };
  const asked = command
    ? cri.exec({ containerId, cmd: [...command], ...streams }, options)
    : cri.attach({ containerId, ...streams }, options);
  const { url } = await asked.catch(refused);
  return { url, ...streams };
}

const refused = (error: unknown): never => {
  throw error instanceof NodeFailure
    ? new NodeFailure(error.reason, runtimeMessage(error), { cause: error.cause })
    : error;
};

/** Throws in a kubelet's words that a container does not run, with the state that its pod reports. */
function notRunning(pod: Pod, { container, command }: StreamRequest): never {
  const status = statusesOf(pod).find(({ name }) => name === container);
  const { name, namespace } = pod.metadata;
  const words = command
    ? `container not found ("${container}")`
    : `container ${container} not found in pod ${name}_${namespace}`;
  const { waiting, terminated } = status?.state ?? {};
  const state = waiting?.reason ?? terminated?.reason;
  throw new NodeFailure('ContainerNotRunning', state === undefined ? words : `${words}: its state is ${state}`);
}
