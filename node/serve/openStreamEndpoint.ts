import { NodeFailure } from '../../base/failure.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { runtimeMessage } from '../../cri/client/failure.ts';
import { findRunningContainer } from '../../cri/runningContainer.ts';
import { findContainerByName } from '../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { allStatuses } from '../../kubernetes/status/allStatuses.ts';
import type { StreamEndpoint, StreamRequest } from '../../socket/agent.ts';

interface StreamDependencies {
  readonly agent: { knownPods(): readonly Pod[] };
  readonly cri: Pick<Cri, 'exec' | 'attach' | 'listContainers'>;
}

/** Timeout in milliseconds for a call to the runtime. It is short because the call only creates a URL. */
const TIMEOUT_MS = 5_000;

/**
 * Requests a streaming URL for exec or attach from the runtime. The checks, their order and their error messages are
 * those of the kubelet (`getExec` and `getAttach` in `pkg/kubelet/server/server.go`).
 */
export async function openStreamEndpoint(
  { agent, cri }: StreamDependencies,
  request: StreamRequest,
  signal: AbortSignal,
): Promise<StreamEndpoint> {
  const { uid, container, command } = request;
  if (!request.stdin && !request.stdout && !request.stderr)
    throw new NodeFailure('BadRequest', 'you must specify at least 1 of stdin, stdout, stderr');
  const pod = agent.knownPods().find(({ metadata }) => metadata.uid === uid);
  if (pod === undefined) throw new NodeFailure('NotFound', 'pod does not exist');
  const options = { signal, timeoutMs: TIMEOUT_MS };
  const containerIdPromise = findRunningContainer(cri, { podUid: uid, name: container }, options).catch(
    throwRuntimeMessage,
  );
  const containerId = (await containerIdPromise) ?? throwNotRunning(pod, request);
  // Use the container's setting for an attach request, which cannot change whether the running process has a terminal.
  const tty = command ? request.tty : (findContainerByName(pod.spec, container)?.container.tty ?? false);
  const { stdin, stdout } = request;
  const streams = { stdin, stdout, stderr: request.stderr && !tty, tty };
  const response = command
    ? cri.exec({ containerId, cmd: [...command], ...streams }, options)
    : cri.attach({ containerId, ...streams }, options);
  const { url } = await response.catch(throwRuntimeMessage);
  return { url, ...streams };
}

const throwRuntimeMessage = (error: unknown): never => {
  throw error instanceof NodeFailure
    ? new NodeFailure(error.reason, runtimeMessage(error), { cause: error.cause })
    : error;
};

/** Throws the kubelet's error for a container that is not running, with the container's reported state. */
function throwNotRunning(pod: Pod, { container, command }: StreamRequest): never {
  const status = allStatuses(pod.status).find(({ name }) => name === container);
  const { name, namespace } = pod.metadata;
  const message = command
    ? `container not found ("${container}")`
    : `container ${container} not found in pod ${name}_${namespace}`;
  const { waiting, terminated } = status?.state ?? {};
  const state = waiting?.reason ?? terminated?.reason;
  throw new NodeFailure('ContainerNotRunning', state === undefined ? message : `${message}: its state is ${state}`);
}
